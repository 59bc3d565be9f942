// Server-sent events, from the bytes of a response.

export interface Frame {
  id: string;
  event: string;
  data: string;
}

export interface Parser {
  /** The frames that are complete after this piece. */
  push: (piece: string) => Frame[];
}

export function parser(): Parser {
  let rest = "";
  let id = "";
  let event = "";
  let data: string[] = [];
  const frames: Frame[] = [];

  const field = (name: string, value: string): void => {
    if (name === "data") data.push(value);
    else if (name === "event") event = value;
    else if (name === "id" && !value.includes("\0")) id = value;
  };

  const line = (text: string): void => {
    if (text === "") {
      if (data.length > 0) frames.push({ id, event: event || "message", data: data.join("\n") });
      event = "";
      data = [];
    } else if (!text.startsWith(":")) {
      const colon = text.indexOf(":");
      if (colon < 0) field(text, "");
      else field(text.slice(0, colon), text.slice(text[colon + 1] === " " ? colon + 2 : colon + 1));
    }
  };

  return {
    push(piece) {
      const text = rest + piece;
      let from = 0;
      for (;;) {
        const end = breakAfter(text, from);
        if (end < 0) break;
        line(text.slice(from, end));
        from = end + (text[end] === "\r" && text[end + 1] === "\n" ? 2 : 1);
      }
      rest = text.slice(from);
      return frames.splice(0);
    },
  };
}

/** Where the line ends, or -1 while that is not known: after a last \r a \n may follow. */
function breakAfter(text: string, from: number): number {
  for (let at = from; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 10) return at;
    if (code === 13) return at + 1 < text.length ? at : -1;
  }
  return -1;
}
