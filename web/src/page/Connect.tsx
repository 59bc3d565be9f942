import { openConnect } from "../state/view";
import { useWords } from "../words/words";
import { Menu } from "./Menu";

/** How to connect a real model. */
export function Connect() {
  const { say } = useWords();
  return (
    <Menu onClose={() => openConnect(false)} className="connect" role="dialog" label={say("connectTitle")}>
      <h2>{say("connectTitle")}</h2>
      <p>{say("connectText")}</p>
      <pre className="full">
        <span className="f">OPENAI_API_KEY</span>
        {"=…     "}
        <span className="c"># + OPENAI_BASE_URL</span>
        {"\n"}
        <span className="f">ANTHROPIC_API_KEY</span>
        {"=…\n"}
        <span className="f">DEEPSEEK_API_KEY</span>
        {"=…\n"}
        <span className="f">OLLAMA_HOST</span>
        {"=http://127.0.0.1:11434"}
      </pre>
    </Menu>
  );
}
