import { Suspense, useState } from "react";

import { shownLine } from "../log/shown";
import { defaultAgent, useAgents } from "../state/agents";
import { useThread } from "../state/thread";
import { useWords } from "../words/words";
import { Icon } from "./Icon";
import { AgentMenu } from "./lazy";

/** Which agent answers the next message. */
export function AgentPicker({ id }: { id: string | null }) {
  const { say } = useWords();
  const { agents, chosen } = useAgents();
  const own = useThread((state) => (state.id === id ? state.conversation?.agent : undefined));
  const [open, setOpen] = useState(false);
  const current = chosen ?? own ?? defaultAgent(agents)?.name ?? "";
  if (agents.length === 0) return null;
  return (
    <>
      <Suspense>{open ? <AgentMenu current={current} onClose={() => setOpen(false)} /> : null}</Suspense>
      <button type="button" className="picker" aria-haspopup="listbox" aria-expanded={open} aria-label={`${say("agent")}: ${current}`} onClick={() => setOpen(!open)}>
        <Icon name="agent" small />
        <span className="mono">{shownLine(current)}</span>
        <Icon name="down" small />
      </button>
    </>
  );
}
