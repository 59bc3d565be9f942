import { send } from "../state/doing";
import { openConnect } from "../state/view";
import { useWords, type Key } from "../words/words";
import { useDemo } from "./Bar";
import { Bars, Icon, type IconName } from "./Icon";

/** Examples that work with the demo model, in the language of the page. */
const EXAMPLES: { icon: IconName | "bars"; title: Key; hint: Key; says: [english: string, chinese: string] }[] = [
  { icon: "stream", title: "exStream", hint: "exStreamHint", says: ["count to 1000", "数到1000"] },
  { icon: "bars", title: "exApprove", hint: "exApproveHint", says: ['write hello.py: print("hello")', "写文件 hello.py"] },
  { icon: "ask", title: "exAsk", hint: "exAskHint", says: ["ask me 3 questions", "问我三个问题"] },
  { icon: "doc", title: "exArtifact", hint: "exArtifactHint", says: ["create artifact about trees", "创建文档 树木"] },
];

export function First() {
  const { say, language } = useWords();
  const demo = useDemo();
  return (
    <>
      <h2 className="verse">{say("firstTitle")}</h2>
      {demo ? (
        <>
          <div className="lead">
            <button type="button" className="model" aria-haspopup="dialog" onClick={() => openConnect(true)}>
              {say("demo")}
            </button>
            <p>
              <span>{say("demoText")}</span>{" "}
              <button type="button" className="link" onClick={() => openConnect(true)}>
                {say("connectModel")}
              </button>
            </p>
          </div>
          <div className="examples">
            {EXAMPLES.map(({ icon, title, hint, says }) => {
              const text = says[language === "zh" ? 1 : 0];
              return (
                <button key={title} type="button" onClick={() => void send(null, text)}>
                  {icon === "bars" ? <Bars className="inset" /> : <Icon name={icon} />}
                  <b>{say(title)}</b>
                  <span className="try">
                    <code>{text}</code>
                    <small>{say(hint)}</small>
                  </span>
                  <Icon name="arrow-right" className="arrow" />
                </button>
              );
            })}
          </div>
        </>
      ) : null}
    </>
  );
}
