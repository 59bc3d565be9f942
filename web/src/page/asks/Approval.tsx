import { Suspense, useEffect, useMemo, useRef, useState, type ReactNode } from "react";

import type { Interrupt } from "../../api/types";
import { shownLine } from "../../log/shown";
import { fitsField } from "../../log/strain";
import { isText, isTexts, useTyped } from "../../state/typed";
import { Phrase } from "../../words/Phrase";
import { useWords } from "../../words/words";
import { Copy } from "../Copy";
import { Icon } from "../Icon";
import { Diff } from "../lazy";
import { Long } from "../Long";
import { pathName } from "../tools";
import { AnswerButton } from "./AnswerButton";
import { Arguments, argumentsFrom, textsOf } from "./Arguments";
import { Box, useUnread } from "./Box";
import { Full } from "./Full";
import { Body, Footer, Refusal, type Place } from "./parts";
import { goBack } from "./Refusing";
import { useGive } from "./useGive";
import { SettledContext, useSettledCard } from "./useSettled";
import { Words } from "./Words";

const MODES = ["look", "edit", "refuse", "respond"] as const;
type Mode = (typeof MODES)[number];
const isMode = (kept: unknown): boolean => MODES.some((mode) => mode === kept);

interface ApprovalProps {
  interrupt: Interrupt;
  place: Place;
  /** What comes after the buttons. */
  more?: ReactNode;
}

export function Approval({ interrupt, place, more }: ApprovalProps) {
  const { say } = useWords();
  const { give, busy, fault } = useGive(interrupt.id);
  const can = (decision: Interrupt["decisions"][number]): boolean => interrupt.decisions.includes(decision);
  const canBe = (mode: Mode): boolean => mode === "look" || can(mode === "refuse" ? "reject" : mode);
  const editable = useMemo(() => Object.values(textsOf(interrupt.args)).every(fitsField), [interrupt.args]);
  const [mode, setMode] = useTyped<Mode>(interrupt.id, "mode", "look", (kept) => isMode(kept) && canBe(kept as Mode) && (kept !== "edit" || editable));
  const [always, setAlways] = useState(false);
  const [reason, setReason] = useTyped(interrupt.id, "reason", "", isText);
  const [texts, setTexts] = useTyped(interrupt.id, "texts", textsOf(interrupt.args), (kept) => isTexts(kept) && Object.values(kept as object).every(fitsField));
  const [wrong, setWrong] = useState<string | null>(null);
  const { unread } = useSettledCard();
  // Who has read the arguments to their end has also read what they then change.
  const [read, setRead] = useState(false);
  const field = useRef<HTMLTextAreaElement>(null);
  const tool = interrupt.name ?? "";
  const back = (): void => setMode("look");
  const granted = always ? { always_allow: true } : {};

  const before = useRef(mode);
  useEffect(() => {
    // A question that only appears in another step, as the person has left it, takes no focus.
    if (mode !== "look" && mode !== before.current) field.current?.focus();
    before.current = mode;
  }, [mode]);

  const approveEdited = (): void => {
    const { args, wrong: bad } = argumentsFrom(interrupt.args, texts);
    setWrong(bad);
    if (bad === null) give({ decision: "edit", args, ...granted });
  };

  if (mode === "edit") {
    return (
      <>
        <Body place={place}>
          <Plain interrupt={interrupt} />
          <Told note={interrupt.note} read={read} />
          <Arguments args={interrupt.args} texts={texts} wrong={wrong} onChange={setTexts} first={field} read={read} />
          <Refusal text={fault} />
        </Body>
        <Footer place={place}>
          <AnswerButton disabled={busy} reads onAnswer={approveEdited}>
            {say("approveEdited")}
          </AnswerButton>
          <button type="button" className="btn" onClick={() => setTexts(textsOf(interrupt.args))}>
            {say("reset")}
          </button>
          <button type="button" className="btn bare" data-back onClick={(event) => goBack(event, back)}>
            {say("back")}
          </button>
        </Footer>
      </>
    );
  }

  if (mode === "refuse" || mode === "respond") {
    const refusing = mode === "refuse";
    return (
      <>
        <Body place={place}>
          <Told note={interrupt.note} />
          <What interrupt={interrupt} brief />
          <label className="field">
            <span className="quiet light">{say(refusing ? "refuseWhy" : "respondText")}</span>
            <textarea ref={field} className="input" rows={2} value={reason} onChange={(event) => setReason(event.target.value)} />
          </label>
          <Refusal text={fault} />
        </Body>
        <Footer place={place}>
          <AnswerButton
            disabled={busy || (!refusing && !reason.trim())}
            onAnswer={() => give({ decision: refusing ? "reject" : "respond", message: reason.trim() })}
          >
            {say(refusing ? "refuse" : "sendAnswer")}
          </AnswerButton>
          <button type="button" className="btn bare" data-back onClick={(event) => goBack(event, back)}>
            {say("back")}
          </button>
        </Footer>
      </>
    );
  }

  return (
    <>
      <Body place={place}>
        {interrupt.changed ? <p className="plain warn">{say("fileChanged")}</p> : null}
        {interrupt.unknown ? <p className="plain warn">{say("unknownText")}</p> : null}
        <Plain interrupt={interrupt} />
        <Told note={interrupt.note} />
        <What interrupt={interrupt} />
        {can("edit") && !editable ? <p className="plain quiet">{say(can("respond") ? "tooHardToEditOrSay" : "tooHardToEdit")}</p> : null}
        <Refusal text={fault} />
      </Body>
      <Footer place={place}>
        {can("approve") ? (
          <AnswerButton disabled={busy} reads onAnswer={() => give({ decision: "approve", ...granted })}>
            {say("approve")}
          </AnswerButton>
        ) : null}
        {can("edit") && editable ? (
          <button
            type="button"
            className="btn"
            data-edit
            disabled={busy}
            onClick={() => {
              setRead(!unread);
              setMode("edit");
            }}
          >
            {say("edit")}
          </button>
        ) : null}
        {can("reject") ? (
          <button type="button" className="btn" data-refuse disabled={busy} onClick={() => setMode("refuse")}>
            {say("refuse")}
          </button>
        ) : null}
        {can("respond") ? (
          <button type="button" className="btn bare" data-respond disabled={busy} onClick={() => setMode("respond")}>
            {say("respond")}
          </button>
        ) : null}
        <span className="grow" />
        {more ??
          (can("approve") ? (
            <label className="check">
              <input type="checkbox" checked={always} onChange={(event) => setAlways(event.target.checked)} />
              <span>
                <Phrase k={place === "stack" ? "alwaysNext" : "always"} values={[<code key="tool">{shownLine(tool)}</code>]} />
              </span>
            </label>
          ) : null)}
      </Footer>
    </>
  );
}

/** The plain sentence that comes first. */
function Plain({ interrupt }: { interrupt: Interrupt }) {
  const { say } = useWords();
  const agent = shownLine(interrupt.agent);
  const path = <code key="path">{shownLine(textOf(interrupt.args.path))}</code>;
  const tool = <code key="tool">{shownLine(interrupt.name ?? "")}</code>;
  // Without a file nobody knows whether there is one: the path cannot be written.
  if (interrupt.name === "write_file" && interrupt.file)
    return (
      <p className="plain">
        <Phrase k={interrupt.file.exists ? "askWriteText" : "askWriteNew"} values={[agent, path]} />
      </p>
    );
  switch (interrupt.name) {
    case "execute":
      return <p className="plain">{say("askRunText", agent)}</p>;
    case "web_fetch":
      return <p className="plain">{say("askFetchText", agent)}</p>;
    default:
      return (
        <p className="plain">
          <Phrase k="askToolText" values={[agent, tool]} />
        </p>
      );
  }
}

const forget = (): void => undefined;

/** What the operator says about the call. A long note must be read to its end, once. */
function Told({ note, read = false }: { note: string; read?: boolean }) {
  const settled = useSettledCard();
  if (!note.trim()) return null;
  return (
    <SettledContext value={read ? { ...settled, note: forget } : settled}>
      <div className="plain about-call">
        <Words text={note} />
      </div>
    </SettledContext>
  );
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** Everything that would be done. Nothing is approved unseen. */
function What({ interrupt, brief = false }: { interrupt: Interrupt; brief?: boolean }) {
  const { args, name, file } = interrupt;
  const { say } = useWords();
  const main = name === "execute" ? "command" : name === "web_fetch" ? "url" : null;
  if (main !== null && typeof args[main] === "string") {
    return (
      <>
        <Command text={args[main]} prompt={name === "execute"} copy={!brief} />
        {brief ? null : <All args={args} shown={[main]} />}
      </>
    );
  }
  if (isFile(interrupt) && typeof args.content === "string") {
    const unseen = file?.exists === true && file.content === null;
    return (
      <>
        {unseen ? <p className="plain warn">{say("askWriteUnseen")}</p> : null}
        <Suspense fallback={<Coming text={args.content} />}>
          <Difference before={file?.content ?? ""} after={args.content} path={textOf(args[pathName(args)])} />
        </Suspense>
        {brief ? null : <All args={args} shown={[pathName(args), "content"]} open={!file} />}
      </>
    );
  }
  return <Full value={args} />;
}

/** A difference that must be read to its end. */
function Difference(props: { before: string; after: string; path: string }) {
  const [unread, setUnread] = useState(true);
  useUnread(unread);
  return <Diff {...props} onUnread={setUnread} />;
}

/** Until the difference can be drawn nothing was read. */
function Coming({ text }: { text: string }) {
  useUnread(true);
  return <Long text={text} className="full" />;
}

/** Whether the question shows what becomes of a file. */
function isFile({ name, args }: Interrupt): boolean {
  return name === "write_file" && typeof args.content === "string";
}

function Command({ text, prompt, copy }: { text: string; prompt: boolean; copy: boolean }) {
  return (
    <Box
      text={text}
      draw={({ className, ...box }, content) => (
        <div className="cmd">
          {prompt ? <span aria-hidden="true">$</span> : null}
          <span className={`text ${className}`} {...box}>
            {content}
          </span>
          {copy ? <Copy text={text} className="copybtn" small /> : null}
        </div>
      )}
    />
  );
}

interface AllProps {
  args: Record<string, unknown>;
  /** The arguments that are shown already. */
  shown: readonly string[];
  open?: boolean;
}

/** All arguments. They can be folded only if each of them is shown elsewhere: what is folded is not drawn, and need not be read. */
function All({ args, shown, open: begin = false }: AllProps) {
  const { say } = useWords();
  const [open, setOpen] = useState(begin);
  if (Object.keys(args).some((name) => !shown.includes(name))) return <Full value={args} />;
  return (
    <details className="fold-args" open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <Icon name="right" small />
        <span>{say("allArguments")}</span>
      </summary>
      {open ? <Full value={args} /> : null}
    </details>
  );
}
