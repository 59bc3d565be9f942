import { switchTo } from "../state/doing";
import { useWords } from "../words/words";
import { Icon } from "./Icon";

/** ‹ 2/3 ›: other versions of the same place. */
export function Hop({ versions, current }: { versions: readonly string[]; current: string }) {
  const { say } = useWords();
  const at = versions.indexOf(current);
  if (at < 0 || versions.length < 2) return null;
  const step = (by: number): void => {
    const next = versions[at + by];
    if (next) void switchTo(next);
  };
  return (
    <span className="hop" role="group" aria-label={say("branchOf", at + 1, versions.length)}>
      <button type="button" disabled={at === 0} aria-label={say("older")} title={say("older")} onClick={() => step(-1)}>
        <Icon name="left" small />
      </button>
      {at + 1}/{versions.length}
      <button type="button" disabled={at === versions.length - 1} aria-label={say("newer")} title={say("newer")} onClick={() => step(1)}>
        <Icon name="right" small />
      </button>
    </span>
  );
}
