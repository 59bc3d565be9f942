// Links of documents that are only looked at. A browser looks up the server of a link and connects to it before the policy of a frame
// forbids to go there.

/** These show what their address names, and lead nowhere. The policy forbids what is elsewhere. */
const SHOWN = new Set(["image", "feimage", "use", "textpath", "mpath", "pattern", "filter", "lineargradient", "radialgradient"]);
/** What a form does, and what is told when a link is followed. */
const SENT = ["action", "formaction", "ping"];

/** Takes every address out to which a click could lead, but not those in the document itself. True: there was one. */
export function removeLinks(root: ParentNode): boolean {
  let found = false;
  for (const element of root.querySelectorAll("[*|href]")) {
    if (SHOWN.has(element.localName.toLowerCase())) continue;
    for (const attribute of [...element.attributes]) {
      if (attribute.localName !== "href" || attribute.value.startsWith("#")) continue;
      element.removeAttributeNode(attribute);
      found = true;
    }
  }
  for (const name of SENT)
    for (const element of root.querySelectorAll(`[${name}]`)) {
      element.removeAttribute(name);
      found = true;
    }
  // An animation could give a link its address later.
  for (const element of root.querySelectorAll("set, animate")) {
    if (!/href\s*$/i.test(element.getAttribute("attributeName") ?? "")) continue;
    element.remove();
    found = true;
  }
  return found;
}
