import { endingOf } from "../log/turn";
import { retry } from "../state/doing";
import { type Entry } from "../state/thread";
import { failureText, failureTitle, sentence } from "../words/faults";
import { useWords } from "../words/words";
import { Copy } from "./Copy";
import { Bars, Icon } from "./Icon";

/** How a turn ended, if not well: stopped or failed, with another try. */
export function Over({ entry, last }: { entry: Entry; last: boolean }) {
  const words = useWords();
  const { say } = words;
  const { status } = entry.log;
  const ending = endingOf(entry.log);
  if (status === "stopped") {
    const reason = ending?.outcome;
    if (reason === "superseded" || reason === "timeout") return null;
    const title = reason === "disconnect" ? "stoppedGone" : reason === "user" ? "youStopped" : "stoppedHere";
    return (
      <div className="over">
        <span className="at">
          <Bars />
        </span>
        <div className="grow">
          <h2>{say(title)}</h2>
          {last ? <p>{say("retryHint")}</p> : null}
        </div>
        {last ? <Again entry={entry} /> : null}
      </div>
    );
  }
  if (status !== "failed") return null;
  const title = failureTitle(ending?.outcome ?? null, ending?.message ?? null, words);
  const why = failureText(ending?.outcome ?? null, ending?.message ?? null, words);
  // The server may say the same as the title.
  const told = why === "" ? say("failedText") : [why === sentence(title) ? "" : why, say("nothingLost")].filter(Boolean).join(" ");
  return (
    <div className="over bad" role="alert">
      <span className="at">
        <Icon name="cross" />
      </span>
      <div className="grow">
        <h2>{title}</h2>
        <p>
          <span>{told}</span>{" "}
          {ending?.error_id ? (
            <span className="error-id">
              {say("errorId", ending.error_id)}
              <Copy text={ending.error_id} className="copybtn tiny" small />
            </span>
          ) : null}
        </p>
      </div>
      {last ? <Again entry={entry} /> : null}
    </div>
  );
}

function Again({ entry }: { entry: Entry }) {
  const { say } = useWords();
  return (
    <button type="button" className="btn" onClick={(event) => event.detail < 2 && void retry(entry)}>
      <Icon name="again" small />
      <span>{say("retry")}</span>
    </button>
  );
}
