// Shows a document as it looks before any script has run. It is in a frame inside this one, where no script can run: the
// policy of this address, which the inner frame has too, allows only the script of this file, and its sandbox none.
import { removeLinks } from "./links";

/** What runs, loads, leads elsewhere or hides markup. Nothing of it can be seen in a document without scripts. */
const OUT = "script, link, base, meta[http-equiv], iframe, frame, object, embed, portal, fencedframe, template";
/** Markup that still changes when it was read so often is not shown. */
const READS = 4;

/** The document without what a browser would connect for, such as `preconnect`. Some markup becomes other markup when it is
 * written and read again: it is read until nothing is left to take out. */
function still(html: string): string {
  let text = html;
  for (let n = 0; n < READS; n += 1) {
    const found = new DOMParser().parseFromString(text, "text/html");
    const out = found.querySelectorAll(OUT);
    for (const element of out) element.remove();
    const led = removeLinks(found);
    if (n > 0 && out.length === 0 && !led) return text;
    text = (found.compatMode === "CSS1Compat" ? "<!doctype html>" : "") + found.documentElement.outerHTML;
  }
  return "";
}

addEventListener("message", function receive(event: MessageEvent<{ html?: unknown }>) {
  if (event.source !== parent || typeof event.data.html !== "string") return;
  removeEventListener("message", receive);
  const frame = document.createElement("iframe");
  frame.setAttribute("sandbox", "");
  frame.srcdoc = still(event.data.html);
  document.body.append(frame);
});
parent.postMessage("ready", "*");
