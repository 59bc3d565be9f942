import { shownLine } from "../log/shown";
import { chooseAgent, useAgents } from "../state/agents";
import { useWords } from "../words/words";
import { agentText } from "./agents";
import { Icon } from "./Icon";
import { Menu } from "./Menu";
import { focusBox } from "./places";

/** The agents that may answer the next message. */
export function AgentMenu({ current, onClose }: { current: string; onClose: () => void }) {
  const words = useWords();
  const { say } = words;
  const { agents } = useAgents();
  // One model for all of them says nothing.
  const several = new Set(agents.flatMap((agent) => agent.model ?? [])).size > 1;
  return (
    <Menu onClose={onClose} className="agents" role="listbox" label={say("agent")}>
      {agents.map((agent) => (
        <button
          key={agent.name}
          type="button"
          className="item"
          role="option"
          aria-selected={agent.name === current}
          onClick={() => {
            chooseAgent(agent.name);
            onClose();
            setTimeout(focusBox, 0);
          }}
        >
          {agent.name === current ? <Icon name="check" /> : <span className="state" />}
          <span className="grow">
            <b className="mono">
              {shownLine(agent.name)}
              {several && agent.model ? <span className="quiet"> {shownLine(agent.model)}</span> : null}
            </b>
            <small>{agentText(agent, words)}</small>
          </span>
        </button>
      ))}
    </Menu>
  );
}
