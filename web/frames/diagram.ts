// Draws a diagram in a frame of its own: the policy of the page forbids the styles that a drawing has.
import mermaid from "mermaid";

import { removeLinks } from "./links";

/** The page sends the source and how it should look. */
export interface Order {
  source: string;
  dark: boolean;
  font: string;
  colours?: Colours;
  /** Of corners, in pixels. */
  radius?: number;
}

/** Colours of the page. */
export interface Colours {
  ground: string;
  box: string;
  other: string;
  note: string;
  edge: string;
  line: string;
  text: string;
}

function variables({ ground, box, other, note, edge, line, text }: Colours, dark: boolean): Record<string, string | boolean> {
  return {
    darkMode: dark,
    background: ground,
    primaryColor: box,
    secondaryColor: other,
    tertiaryColor: ground,
    primaryTextColor: text,
    secondaryTextColor: text,
    tertiaryTextColor: text,
    primaryBorderColor: edge,
    secondaryBorderColor: edge,
    tertiaryBorderColor: edge,
    lineColor: line,
    textColor: text,
    edgeLabelBackground: ground,
    noteBkgColor: note,
    noteTextColor: text,
    noteBorderColor: edge,
    fontSize: "14px",
  };
}

/** The frame tells the page its height, or that there is nothing to see. */
export type DiagramReply = { ready: true } | { height: number } | { fault: string };

const reply = (message: DiagramReply) => parent.postMessage(message, "*");

async function draw({ source, dark, font, colours, radius = 0 }: Order): Promise<void> {
  // The ground of a frame is opaque if its scheme is not that of the page.
  document.documentElement.style.colorScheme = dark ? "dark" : "light";
  mermaid.initialize({
    startOnLoad: false,
    securityLevel: "strict",
    ...(colours ? { theme: "base" as const, themeVariables: { ...variables(colours, dark), fontFamily: font } } : { theme: dark ? ("dark" as const) : ("neutral" as const) }),
    themeCSS: `.node rect, rect.actor, .note rect, .cluster rect { rx: ${Number(radius)}px; ry: ${Number(radius)}px; }`,
    fontFamily: font,
    suppressErrorRendering: true,
    maxTextSize: 50_000,
    maxEdges: 500,
  });
  try {
    const { svg } = await mermaid.render("drawing", source);
    document.body.innerHTML = svg;
    removeLinks(document.body);
    document.body.style.margin = "0";
    reply({ height: Math.ceil(document.body.getBoundingClientRect().height) });
  } catch (error) {
    document.body.replaceChildren();
    reply({ fault: String(error instanceof Error ? error.message : error).slice(0, 300) });
  }
}

addEventListener("message", (event: MessageEvent<Order>) => {
  if (event.source === parent) void draw(event.data);
});
reply({ ready: true });
