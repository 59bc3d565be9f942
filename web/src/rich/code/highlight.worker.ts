// Highlights code beside the page: a grammar may take long on a text that was made for it.
import type { Reply, Request } from "./token";
import { Highlighter, type Sheet } from "./tokens";

const highlighter = new Highlighter();
const sheets = new Map<number, Promise<Sheet | null>>();

async function answer(request: Request): Promise<Reply | null> {
  const { id } = request;
  if ("end" in request) {
    sheets.delete(id);
    return null;
  }
  const opened = sheets.get(id) ?? highlighter.sheet(request.language);
  sheets.set(id, opened);
  const sheet = await opened;
  return sheet === null ? { id, none: true } : { id, ...sheet.update(request.text) };
}

addEventListener("message", (event: MessageEvent<Request>) => {
  answer(event.data).then(
    (reply) => reply && postMessage(reply),
    () => postMessage({ id: event.data.id, none: true } satisfies Reply),
  );
});
