// Which addresses may be opened.

/** Only what opens a page or a mail. */
export function safeAddress(address: string | undefined): string | null {
  if (address === undefined) return null;
  try {
    const { protocol } = new URL(address);
    return protocol === "https:" || protocol === "http:" || protocol === "mailto:" ? address : null;
  } catch {
    return null;
  }
}

/** So much of the words of a link is looked at. */
const LONGEST = 500;
const ADDRESS = /(?:https?:)?[/\\]{2}\S+|\S+@\S+|\bwww\.\S+/i;
// A name of a server and nothing else. Names of files look like it.
const NAME = /^(?:[\p{L}\p{N}_-]+\.)+\p{L}{2,}(?:[/:?#]\S*)?$/u;
const FILE = /\.(?:c|cc|cfg|cpp|cs|css|csv|go|h|html?|ini|ipynb|java|jpe?g|jsx?|json|kt|lock|log|md|pdf|php|png|py|rb|rs|sh|sql|svg|swift|toml|tsx?|txt|xml|ya?ml|zip)$/i;

// Browsers take it for a dot in an address. Between words of a text it is a full stop.
const DOT = /(?<=[\w-])。(?=\w)/g;

/** Where a link leads, if its words look like an address that leads elsewhere. */
export function trueTarget(words: string, address: string): string | null {
  const plain = words.slice(0, LONGEST).normalize("NFKC").replace(/\p{Default_Ignorable_Code_Point}/gu, "").replace(DOT, ".").trim();
  const named = ADDRESS.exec(plain)?.[0] ?? (NAME.test(plain) && !FILE.test(plain) ? plain : null);
  if (named === null) return null;
  const { protocol, host, pathname } = new URL(address);
  const mail = protocol === "mailto:";
  const [target, place] = mail ? [pathname, pathname] : [host, `https://${host}`];
  return target !== "" && serverOf(named) === serverOf(place) ? null : target;
}

/** The name of the server in an address; null if there is none. */
function serverOf(address: string): string | null {
  const rest = address.replace(/^(?:https?:)?[/\\]{2}|^mailto:/i, "");
  try {
    return new URL(`https://${rest}`).hostname.replace(/^www\./, "");
  } catch {
    return null;
  }
}
