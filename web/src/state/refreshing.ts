// Reading the open conversation in place of a stream that is silent.
import * as api from "../api/calls";
import { moment } from "./list";
import { loadArtifacts, PAGE, show } from "./opening";
import { useThread } from "./thread";

/** Reads once what a silent stream would have told, and lets that stream go on with its tries. Throws what was not read. */
export async function refresh(): Promise<void> {
  const { id, phase } = useThread.getState();
  if (!id || phase !== "ready") return;
  const since = moment();
  const snapshot = await api.snapshot(id, null, PAGE);
  const [known, last] = [useThread.getState().entries.at(-1), snapshot.turns.at(-1)];
  if (useThread.getState().id !== id || useThread.getState().sending || (known && known.turn.id === last?.id && known.log.cursor >= last.cursor)) return;
  show(snapshot, false, since, true);
  void loadArtifacts();
}
