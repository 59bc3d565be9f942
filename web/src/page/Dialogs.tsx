import { useEffect, useState } from "react";

import "../styles/dialogs.css";
import * as api from "../api/calls";
import type { Grant } from "../api/types";
import { ApiError } from "../api/client";
import { HOME } from "../api/root";
import { shownLine } from "../log/shown";
import { deleteConversation, useList } from "../state/list";
import { rescueAll } from "../state/rescue";
import { go, useRoute } from "../state/route";
import { signOut } from "../state/session";
import { hasUnsent } from "../state/unsent";
import { openDialog, useView } from "../state/view";
import { refusalText } from "../words/faults";
import { useWords, type Key } from "../words/words";
import { Dialog } from "./Dialog";
import { keyName } from "./keys";

export function Dialogs() {
  const dialog = useView((state) => state.dialog);
  switch (dialog?.kind) {
    case "delete":
      return <Delete id={dialog.id} />;
    case "shortcuts":
      return <Shortcuts />;
    case "grants":
      return <Grants id={dialog.id} />;
    case "leave":
      return <Leave everywhere={dialog.everywhere} />;
    case undefined:
      return null;
  }
}

const close = (): void => openDialog(null);

function Delete({ id }: { id: string }) {
  const words = useWords();
  const { say } = words;
  const title = useList((state) => state.rows[id]?.title);
  const works = useList((state) => state.rows[id]?.status === "running" || state.rows[id]?.status === "interrupted");
  const [busy, setBusy] = useState(false);
  const [fault, setFault] = useState("");
  const remove = async (): Promise<void> => {
    setBusy(true);
    try {
      await deleteConversation(id);
      rescueAll(id);
      const route = useRoute.getState();
      if (route.at === "conversation" && route.id === id) go(HOME);
      close();
    } catch (error) {
      setFault(error instanceof ApiError ? refusalText(error, words) : say("serverFault"));
      setBusy(false);
    }
  };
  return (
    <Dialog alert title={say("deleteTitle", title ? shownLine(title) : say("untitled"))} onClose={close} onSubmit={() => void remove()}>
      <p>{say(works ? "deleteText" : "deleteIdleText")}</p>
      {fault ? (
        <p className="fault" role="alert">
          {say("answerFailed", fault)}
        </p>
      ) : null}
      <div className="btns">
        <button type="button" className="btn" data-autofocus onClick={close}>
          {say("keep")}
        </button>
        <button type="submit" className="btn primary danger" disabled={busy}>
          {say("delete")}
        </button>
      </div>
    </Dialog>
  );
}

/** Asks before the person signs out. What they wrote and did not send goes with them. */
function Leave({ everywhere }: { everywhere: boolean }) {
  const { say } = useWords();
  const [unsent] = useState(hasUnsent);
  const word = say(everywhere ? "signOutEverywhere" : "signOut");
  return (
    <Dialog
      alert
      title={say(unsent ? "leaveUnsent" : "leaveEverywhere")}
      onClose={close}
      onSubmit={() => {
        close();
        void signOut(everywhere);
      }}
    >
      {unsent ? <p>{say("leaveUnsentText")}</p> : null}
      {everywhere ? <p>{say("leaveEverywhereText")}</p> : null}
      <div className="btns">
        <button type="button" className="btn" data-autofocus onClick={close}>
          {say("cancel")}
        </button>
        <button type="submit" className={unsent ? "btn primary danger" : "btn primary"}>
          {word}
        </button>
      </div>
    </Dialog>
  );
}

const KEYS: [Key, string[]][] = [
  ["keySend", ["↵"]],
  ["keyLine", ["⇧", "↵"]],
  ["keyEscape", ["Esc"]],
  ["keyNew", ["⌘", "⇧", "O"]],
  ["keyWaits", ["⌘", "⇧", "↵"]],
  ["keySearch", ["⌘", "K"]],
  ["keySide", ["⌘", "B"]],
  ["keyBox", ["/"]],
  ["keyLast", ["↑"]],
  ["keyList", ["⌘", "/"]],
];
const LIST_KEYS: [Key, string[]][] = [
  ["keyRows", ["↑ ↓"]],
  ["keyRowMenu", ["→"]],
];
const ASK_KEYS: [Key, string[]][] = [
  ["keyApprove", ["⌘", "↵"]],
  ["keyEdit", ["E"]],
  ["keyRefuse", ["R"]],
  ["keyOptions", ["1–9"]],
];

function Shortcuts() {
  const { say } = useWords();
  return (
    <Dialog title={say("shortcuts")} onClose={close} className="shortcuts" onSubmit={close}>
      <KeyList keys={KEYS} />
      <h3>{say("keysList")}</h3>
      <KeyList keys={LIST_KEYS} />
      <h3>{say("keysAsk")}</h3>
      <KeyList keys={ASK_KEYS} />
      <div className="btns">
        <button type="submit" className="btn" data-autofocus>
          {say("close")}
        </button>
      </div>
    </Dialog>
  );
}

function KeyList({ keys }: { keys: [Key, string[]][] }) {
  const { say } = useWords();
  return (
    <dl className="keys">
      {keys.map(([key, names]) => (
        <div key={key}>
          <dt>{say(key)}</dt>
          <dd>
            <kbd>{keyName(...names)}</kbd>
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** The tools that this branch always allows. */
function Grants({ id }: { id: string }) {
  const { say, clock } = useWords();
  const [grants, setGrants] = useState<Grant[] | null>(null);
  useEffect(() => {
    let here = true;
    void api
      .grants(id)
      .then((found) => here && setGrants(found.grants))
      .catch(() => here && setGrants([]));
    return () => {
      here = false;
    };
  }, [id]);
  const revoke = (tool: string): void => {
    void api.revoke(id, tool).then(
      () => setGrants((all) => all?.filter((grant) => grant.tool !== tool) ?? null),
      () => undefined,
    );
  };
  return (
    <Dialog title={say("grants")} onClose={close} onSubmit={close}>
      {grants?.length === 0 ? <p>{say("noGrants")}</p> : null}
      <ul className="grants">
        {grants?.map((grant) => (
          <li key={`${grant.agent} ${grant.tool}`}>
            <code>{shownLine(grant.tool)}</code>
            <span className="quiet num">{clock(grant.granted_at)}</span>
            <span className="grow" />
            <button type="button" className="btn tight" onClick={() => revoke(grant.tool)}>
              {say("revoke")}
            </button>
          </li>
        ))}
      </ul>
      <div className="btns">
        <button type="submit" className="btn" data-autofocus>
          {say("close")}
        </button>
      </div>
    </Dialog>
  );
}
