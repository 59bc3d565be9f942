// Where the server is: the path before all of its paths. The server writes it into the document, if it has one.
export const ROOT = globalThis.document?.documentElement.dataset.root ?? "";
export const HOME = `${ROOT}/`;
