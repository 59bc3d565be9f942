import { useState } from "react";

import { shownLine } from "../log/shown";
import { chooseAgent, defaultAgent, useAgents } from "../state/agents";
import { useThread } from "../state/thread";
import { useWords } from "../words/words";
import { Icon } from "./Icon";
import { Menu } from "./Menu";
import { focusBox } from "./places";

/** Which agent answers the next message. */
export function AgentPicker({ id }: { id: string | null }) {
  const { say } = useWords();
  const { agents, chosen } = useAgents();
  const own = useThread((state) => (state.id === id ? state.conversation?.agent : undefined));
  const [open, setOpen] = useState(false);
  const current = chosen ?? own ?? defaultAgent(agents)?.name ?? "";
  // One model for all of them says nothing.
  const several = new Set(agents.flatMap((agent) => agent.model ?? [])).size > 1;
  if (agents.length === 0) return null;
  return (
    <>
      {open ? (
        <Menu onClose={() => setOpen(false)} className="agents" role="listbox" label={say("agent")}>
          {agents.map((agent) => (
            <button
              key={agent.name}
              type="button"
              className="item"
              role="option"
              aria-selected={agent.name === current}
              onClick={() => {
                chooseAgent(agent.name);
                setOpen(false);
                setTimeout(focusBox, 0);
              }}
            >
              {agent.name === current ? <Icon name="check" /> : <span className="state" />}
              <span className="grow">
                <b className="mono">
                  {shownLine(agent.name)}
                  {several && agent.model ? <span className="quiet"> {shownLine(agent.model)}</span> : null}
                </b>
                <small>{shownLine(agent.description)}</small>
              </span>
            </button>
          ))}
        </Menu>
      ) : null}
      <button type="button" className="picker" aria-haspopup="listbox" aria-expanded={open} aria-label={`${say("agent")}: ${current}`} onClick={() => setOpen(!open)}>
        <Icon name="agent" small />
        <span className="mono">{shownLine(current)}</span>
        <Icon name="down" small />
      </button>
    </>
  );
}
