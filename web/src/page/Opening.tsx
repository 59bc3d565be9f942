import { useEffect, useState } from "react";

import { HOME } from "../api/root";
import { useWords } from "../words/words";
import { visit } from "./Sidebar";

/** Bones of a conversation, after 200 ms: what opens at once needs none. */
export function Opening() {
  const { say } = useWords();
  const [late, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), 200);
    return () => clearTimeout(timer);
  }, []);
  if (!late) return null;
  return (
    <>
      <div className="said">
        <div className="bone said-bone" />
      </div>
      <article className="turn" aria-busy="true">
        <span className="sr">{say("loading")}</span>
        <div className="bones">
          {["b84", "b92", "b61", "block", "b88", "b40"].map((size) => (
            <div key={size} className={`bone ${size}`} />
          ))}
        </div>
      </article>
    </>
  );
}

/** An address that the page does not know. */
export function Nowhere() {
  const { say } = useWords();
  return <Missing text={say("nothingHere")} home={say("home")} />;
}

export function Missing({ text, more = "", home, again }: { text: string; more?: string; home?: string; again?: () => void }) {
  const { say } = useWords();
  return (
    <div className="nothing">
      <span className="bars" aria-hidden="true" />
      <h2 tabIndex={-1} data-home>
        {text}
      </h2>
      {more ? <p role="status">{more}</p> : null}
      <p>
        {again ? (
          <button type="button" className="btn" onClick={again}>
            {say("retry")}
          </button>
        ) : (
          <a className="btn" href={HOME} onClick={visit}>
            {home ?? say("newConversation")}
          </a>
        )}
      </p>
    </div>
  );
}

/** Something broke, or a part of the page could not be loaded: a fresh page has everything again. */
export function Broken() {
  const { say } = useWords();
  return <Missing text={say("loadFailed")} again={() => location.reload()} />;
}
