import type { Interrupt } from "../../api/types";
import { useChosen } from "../../state/answers";
import { useWords } from "../../words/words";
import { Bars, Icon } from "../Icon";
import { decisionWord, titleOf } from "./titles";

interface ClosedCardProps {
  id: string | null;
  interrupt: Interrupt | null;
  expired: boolean;
  decision: string | null;
  at: number | null;
  /** Nobody answered it, and its time is not over: the turn went another way. */
  gone?: boolean;
  /** Does what was asked for once more; left out where that is not possible. */
  again?: (() => void) | undefined;
}

/** A question that is over without an answer from here. */
export function ClosedCard({ id, interrupt, expired, decision, at, gone = false, again }: ClosedCardProps) {
  const words = useWords();
  const { say, clock } = words;
  const chosen = useChosen((state) => id !== null && state[id] === true);
  const title = interrupt ? titleOf(interrupt, words) : "";
  const head = gone ? say("closedElsewhere") : expired ? (title ? `${say("expired")}: ${title}` : say("expired")) : say("elsewhere", say(decisionWord(decision)));
  const refused = expired || gone || decision === "reject";
  return (
    <section className="ask closed" role="status">
      <span className="at">
        <Bars />
      </span>
      <header>
        <span className={refused ? "state no" : "state ok"}>
          <Icon name={refused ? "refused" : "check"} />
        </span>
        <div className="grow">
          <h2>{head}</h2>
          <p className="plain">{say(gone ? "closedElsewhereText" : expired ? "expiredText" : chosen ? "elsewhereText" : "elsewherePlain")}</p>
        </div>
        {at !== null ? <time className="quiet num">{clock(at)}</time> : null}
      </header>
      {again ? (
        <footer>
          <span className="grow" />
          <button type="button" className="btn" onClick={(event) => event.detail < 2 && again()}>
            <Icon name="again" small />
            <span>{say("askOnceMore")}</span>
          </button>
        </footer>
      ) : null}
    </section>
  );
}
