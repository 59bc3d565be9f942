import { Icon } from "../../page/Icon";
import { useWords } from "../../words/words";
import type { DiffMode } from "../diff/Rows";

export type View = "preview" | "source" | "changes";

interface TabsProps {
  view: View;
  mode: DiffMode;
  numbers: readonly number[];
  from: number | null;
  on: number;
  /** Whether the newest words are followed; null while nothing is written. */
  follow: boolean | null;
  onView: (view: View) => void;
  onMode: (mode: DiffMode) => void;
  onFrom: (version: number) => void;
  onOn: (version: number) => void;
  onFollow: (follow: boolean) => void;
}

const VIEWS = ["preview", "source", "changes"] as const;

/** How a document is shown, and which versions are compared. */
export function Tabs({ view, mode, numbers, from, on, follow, onView, onMode, onFrom, onOn, onFollow }: TabsProps) {
  const { say } = useWords();
  return (
    <div className="tabs">
      <div className="seg" role="tablist" aria-label={say("documents")}>
        {VIEWS.map((name, index) => (
          <button
            key={name}
            type="button"
            role="tab"
            aria-selected={view === name}
            tabIndex={view === name ? 0 : -1}
            onClick={() => onView(name)}
            onKeyDown={(event) => {
              const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? VIEWS.length - 1 : 0;
              const next = VIEWS[(index + step) % VIEWS.length];
              if (step === 0 || next === undefined) return;
              onView(next);
              (event.currentTarget.parentElement?.children[(index + step) % VIEWS.length] as HTMLElement | undefined)?.focus();
            }}
          >
            {say(name)}
          </button>
        ))}
      </div>
      <span className="grow" />
      {view === "changes" ? (
        <>
          <span className="compare">
            <Choice label={say("compare")} value={from ?? 0} numbers={[0, ...numbers].filter((number) => number !== on)} onChoose={onFrom} />
            <Icon name="arrow-right" small />
            <Choice label={say("with")} value={on} numbers={numbers} onChoose={onOn} />
          </span>
          <div className="seg" role="group" aria-label={say("changes")}>
            <Mode mode="inline" now={mode} onMode={onMode} />
            <Mode mode="split" now={mode} onMode={onMode} />
          </div>
        </>
      ) : follow === null ? null : (
        <label className="check">
          <input type="checkbox" checked={follow} onChange={(event) => onFollow(event.target.checked)} />
          <span>{say("follow")}</span>
        </label>
      )}
    </div>
  );
}

function Choice({ label, value, numbers, onChoose }: { label: string; value: number; numbers: readonly number[]; onChoose: (version: number) => void }) {
  const { say } = useWords();
  return (
    <span className="mini choice">
      <select aria-label={label} value={value} onChange={(event) => onChoose(Number(event.target.value))}>
        {numbers.map((number) => (
          <option key={number} value={number}>
            {number === 0 ? say("noVersion") : `v${number}`}
          </option>
        ))}
      </select>
      <Icon name="down" small />
    </span>
  );
}

function Mode({ mode, now, onMode }: { mode: DiffMode; now: DiffMode; onMode: (mode: DiffMode) => void }) {
  const { say } = useWords();
  const label = say(mode === "inline" ? "inline" : "sideBySide");
  return (
    <button type="button" aria-pressed={mode === now} aria-label={label} title={label} onClick={() => onMode(mode)}>
      <Icon name={mode === "inline" ? "rows" : "cols"} />
    </button>
  );
}
