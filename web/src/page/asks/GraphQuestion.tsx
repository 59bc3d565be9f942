import { writeJson } from "../../api/json";
import { shownLine } from "../../log/shown";
import { useWords } from "../../words/words";
import { json } from "../tools";
import type { Asked } from "./asked";
import { Box } from "./Box";
import { Full } from "./Full";
import { Words } from "./Words";

/** What a graph asks: its words, and below them everything else that its value holds. All of it must be read to its end. */
export function GraphQuestion({ asked }: { asked: Asked }) {
  const { say } = useWords();
  const { words, members, other } = asked;
  const nothing = words === "" && members.length === 0 && other === undefined;
  return (
    <div className="asked">
      {nothing ? <p className="lbl">{say("graphWaits")}</p> : null}
      {words ? (
        <div className="lbl">
          <Words text={words} />
        </div>
      ) : null}
      {members.length > 0 ? (
        <dl className="asked">
          {members.map(([name, value]) => (
            <div key={name}>
              <dt className="mono">{shownLine(name)}</dt>
              <dd>
                <Held value={value} />
              </dd>
            </div>
          ))}
        </dl>
      ) : null}
      {other === undefined ? null : <Full value={other} />}
    </div>
  );
}

/** JSON that is no longer stands on one line. */
const LINE = 80;

/** A text as people write it, anything else as JSON. */
function Held({ value }: { value: unknown }) {
  const plain = typeof value === "string" && value.trim() !== "";
  const short = plain ? "" : writeJson(value);
  return (
    <Box
      text={plain ? value : short.length > LINE ? json(value) : short}
      draw={({ className, ...box }, content) => (
        <div className={`text held lines-kept ${plain ? "" : "mono"} ${className}`} {...box}>
          {content}
        </div>
      )}
    />
  );
}
