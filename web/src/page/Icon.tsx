import type { ReactElement } from "react";

const SHAPES = {
  plus: <path d="M8 3.5v9M3.5 8h9" />,
  inbox: <path d="M2.5 9.5 4.3 4a1.2 1.2 0 0 1 1.15-.8h5.1A1.2 1.2 0 0 1 11.7 4l1.8 5.5v2.3a1.2 1.2 0 0 1-1.2 1.2H3.7a1.2 1.2 0 0 1-1.2-1.2zM2.5 9.5h3.2c.2 1.3 1.1 2 2.3 2s2.1-.7 2.3-2h3.2" />,
  side: <><rect x="2.25" y="3" width="11.5" height="10" rx="2" /><path d="M6.25 3v10" /></>,
  right: <path d="m6.25 4.25 3.75 3.75-3.75 3.75" />,
  left: <path d="M9.75 4.25 6 8l3.75 3.75" />,
  down: <path d="m4.25 6.25 3.75 3.75 3.75-3.75" />,
  "arrow-down": <path d="M8 3.25v9.5M4.25 9 8 12.75 11.75 9" />,
  "arrow-up": <path d="M8 12.75v-9.5M4 7.25l4-4 4 4" />,
  "arrow-right": <path d="M3.25 8h9.5M9 4.25 12.75 8 9 11.75" />,
  copy: <><rect x="5.5" y="5.5" width="7.5" height="7.5" rx="1.5" /><path d="M3.75 10.25A1.25 1.25 0 0 1 3 9.1V4.25C3 3.56 3.56 3 4.25 3H9.1c.5 0 .95.3 1.15.75" /></>,
  check: <path d="m3.5 8.5 3 3 6-7" />,
  cross: <path d="m4.25 4.25 7.5 7.5M11.75 4.25l-7.5 7.5" />,
  refused: <><circle cx="8" cy="8" r="5.25" /><path d="m4.4 11.6 7.2-7.2" /></>,
  unknown: <><circle cx="8" cy="8" r="5.25" strokeDasharray="2.5 2" /><path d="M6.7 6.8c.1-.8.6-1.2 1.3-1.2s1.3.5 1.3 1.1c0 .9-1.3 1-1.3 2M8 10.5v.01" /></>,
  pen: <path d="m3 13 .6-2.7 6.9-6.9a1.3 1.3 0 0 1 1.85 0l.25.25a1.3 1.3 0 0 1 0 1.85l-6.9 6.9zM9.25 4.75l2 2" />,
  find: <><circle cx="7" cy="7" r="4.25" /><path d="m10.25 10.25 3 3" /></>,
  again: <path d="M12.75 8A4.75 4.75 0 1 1 11.2 4.5M12.75 2.75v2.5h-2.5" />,
  term: <path d="m3.5 5 3 3-3 3M8.5 11.5h4" />,
  file: <path d="M4 3.75C4 3.06 4.56 2.5 5.25 2.5H9l3 3v6.75c0 .69-.56 1.25-1.25 1.25h-5.5C4.56 13.5 4 12.94 4 12.25zM9 2.5v3h3" />,
  doc: <path d="M4 3.75C4 3.06 4.56 2.5 5.25 2.5h5.5c.69 0 1.25.56 1.25 1.25v8.5c0 .69-.56 1.25-1.25 1.25h-5.5C4.56 13.5 4 12.94 4 12.25zM6.25 5.5h3.5M6.25 8h3.5M6.25 10.5h2" />,
  ask: <><path d="M3 4.5C3 3.67 3.67 3 4.5 3h7c.83 0 1.5.67 1.5 1.5v5c0 .83-.67 1.5-1.5 1.5H8l-2.75 2.25V11H4.5C3.67 11 3 10.33 3 9.5z" /><path d="M6 6h4M6 8.25h2.5" /></>,
  stream: <><path d="M3 4.5h10M3 8h7M3 11.5h3.5" /><path d="M9.5 11.5h.01" /></>,
  dots: <path d="M4 8h.01M8 8h.01M12 8h.01" strokeWidth="2" />,
  load: <path d="M8 2.75v7M5 7l3 3 3-3M3.25 13h9.5" />,
  out: <path d="M6.5 3H4.25C3.56 3 3 3.56 3 4.25v7.5c0 .69.56 1.25 1.25 1.25H6.5M10 5l3 3-3 3M13 8H6.5" />,
  keys: <><rect x="2" y="4" width="12" height="8" rx="1.5" /><path d="M4.5 6.5h.01M7 6.5h.01M9.5 6.5h.01M11.5 6.5h.01M5.5 9.5h5" /></>,
  plug: <path d="M6 2.5v3M10 2.5v3M4.25 5.5h7.5v2.25a3.75 3.75 0 0 1-7.5 0zM8 11.5v2.25" />,
  bin: <path d="M3 4.5h10M6.25 4.5V3h3.5v1.5M4.25 4.5l.6 7.8c.05.7.6 1.2 1.25 1.2h3.8c.65 0 1.2-.5 1.25-1.2l.6-7.8" />,
  cols: <><rect x="2.25" y="3" width="11.5" height="10" rx="1.75" /><path d="M8 3v10" /></>,
  rows: <><rect x="2.25" y="3" width="11.5" height="10" rx="1.75" /><path d="M5 6.5h6M5 9.5h6" /></>,
  flag: <path d="M4.5 13.5v-11M4.5 3h7l-1.75 2.5L11.5 8h-7" />,
  agent: <><circle cx="5" cy="4.5" r="1.75" /><circle cx="11" cy="11.5" r="1.75" /><path d="M5 6.25v2.5c0 1.5 1 2.75 2.5 2.75h1.75" /></>,
} satisfies Record<string, ReactElement>;

export type IconName = keyof typeof SHAPES;

export function Icon({ name, small = false, className = "" }: { name: IconName; small?: boolean; className?: string }) {
  return (
    <svg className={`i${small ? " s" : ""}${className ? ` ${className}` : ""}`} viewBox="0 0 16 16" aria-hidden="true">
      {SHAPES[name]}
    </svg>
  );
}

/** Two strokes: stopped here. */
export function Bars({ className = "" }: { className?: string }) {
  return <span className={`bars${className ? ` ${className}` : ""}`} aria-hidden="true" />;
}

export function Logo() {
  return (
    <svg className="logo" aria-hidden="true" viewBox="0 0 24 24">
      <path d="M2.5 12H7M17 12h4.5" />
      <path className="gap" d="M10.25 5v14M13.75 5v14" />
    </svg>
  );
}
