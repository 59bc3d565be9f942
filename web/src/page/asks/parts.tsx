import type { ReactNode } from "react";

/** Where a question is drawn: alone, among others, or in the inbox. */
export type Place = "card" | "stack" | "inbox";

export function Body({ place, qs = false, children }: { place: Place; qs?: boolean; children: ReactNode }) {
  if (place === "inbox") return qs ? <div className="qs">{children}</div> : children;
  return <div className={qs ? "qs" : "body"}>{children}</div>;
}

export function Footer({ place, children }: { place: Place; children: ReactNode }) {
  return place === "inbox" ? <div className="acts2">{children}</div> : <footer>{children}</footer>;
}

/** Why an answer was not taken. */
export function Refusal({ text }: { text: string }) {
  return (
    <div role="alert" className="fault-place">
      {text ? <span className="fault">{text}</span> : null}
    </div>
  );
}
