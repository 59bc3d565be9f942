// Something between the page and the server, such as a proxy, may hold streams back and let other requests through. Then every try
// that ends in silence reads once what the stream would have told. The tries wait longer and longer: nothing polls by itself.
import * as api from "../api/calls";
import { ApiError } from "../api/client";
import { noteHeld, onSilence, type Name } from "./connection";
import { received } from "./feed";
import { loadInbox } from "./inbox";
import { refresh } from "./refreshing";

const READ: Record<Name, () => Promise<void>> = { feed: readFeed, turn: refresh };

export function followHeld(): () => void {
  const reading = new Set<Name>();
  const read = async (name: Name): Promise<void> => {
    if (reading.has(name)) return;
    reading.add(name);
    try {
      await READ[name]();
      noteHeld(true);
    } catch (error) {
      noteHeld(error instanceof ApiError && !error.unreachable);
    } finally {
      reading.delete(name);
    }
  };
  onSilence((name) => void read(name));
  return () => onSilence(() => undefined);
}

async function readFeed(): Promise<void> {
  const { conversations } = await api.conversations(null);
  for (const row of conversations) received({ id: "", event: "conversation", data: JSON.stringify(row) });
  await loadInbox();
}
