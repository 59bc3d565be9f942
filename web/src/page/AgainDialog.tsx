import { useState } from "react";

import { signIn, signOut, useSession } from "../state/session";
import { hasUnsent } from "../state/unsent";
import { useWords } from "../words/words";
import { Dialog } from "./Dialog";
import { doorFault } from "./Door";
import { Icon } from "./Icon";

/** The session has ended: the same person signs in again over the page, and nothing of it is lost. */
export function AgainDialog() {
  const words = useWords();
  const { say } = words;
  const user = useSession((state) => state.user);
  const [password, setPassword] = useState("");
  const [fault, setFault] = useState("");
  const [busy, setBusy] = useState(false);

  const enter = async (): Promise<void> => {
    setBusy(true);
    try {
      await signIn(user, password);
    } catch (error) {
      setFault(doorFault(error, words, "wrongPassword"));
      setBusy(false);
    }
  };

  const [leaving, setLeaving] = useState(false);
  if (leaving)
    return (
      <Dialog key="leave" alert title={say("leaveUnsent")} onClose={() => setLeaving(false)} onSubmit={() => void signOut()}>
        <p>{say("leaveUnsentText")}</p>
        <div className="btns">
          <button type="button" className="btn" data-autofocus onClick={() => setLeaving(false)}>
            {say("cancel")}
          </button>
          <button type="submit" className="btn primary danger">
            {say("signOut")}
          </button>
        </div>
      </Dialog>
    );
  return (
    <Dialog title={say("signInAgain")} onSubmit={() => void enter()}>
      <p>{say("signInAgainText")}</p>
      <input className="sr" tabIndex={-1} aria-hidden="true" name="username" autoComplete="username" value={user} readOnly />
      <label className="field">
        <span>
          <span>{say("password")}</span>
          <small>{user}</small>
        </span>
        <input
          className={`input${fault ? " bad" : ""}`}
          type="password"
          name="password"
          autoComplete="current-password"
          data-autofocus
          required
          value={password}
          onChange={(event) => setPassword(event.target.value)}
        />
        <span role="alert">
          {fault ? (
            <span className="fault">
              <Icon name="cross" small />
              <span>{fault}</span>
            </span>
          ) : null}
        </span>
      </label>
      <div className="btns">
        <button type="button" className="btn bare" onClick={() => (hasUnsent() ? setLeaving(true) : void signOut())}>
          {say("notYou", user)}
        </button>
        <span className="grow" />
        <button type="submit" className="btn primary" disabled={busy}>
          {say("signIn")}
        </button>
      </div>
    </Dialog>
  );
}
