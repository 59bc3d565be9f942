import "../styles/door.css";
import { useEffect, useId, useRef, useState } from "react";

import { ApiError } from "../api/client";
import { register, signIn, useSession } from "../state/session";
import { isDark, setLanguage, setTheme, useSettings } from "../state/settings";
import { refusalText } from "../words/faults";
import { useWords, type Words } from "../words/words";
import { Art } from "./Art";
import { Icon, Logo } from "./Icon";

/** Why the door stays closed. */
export function doorFault(error: unknown, words: Words): string {
  const { say } = words;
  if (!(error instanceof ApiError)) return say("noServer");
  if (error.status === 401) return say("wrongLogin");
  if (error.status === 429) return say("tooManyTries");
  if (error.unreachable || error.status >= 500) return say("noServer");
  return refusalText(error, words);
}

export function Door() {
  const words = useWords();
  const { say, language } = words;
  const theme = useSettings((state) => state.theme);
  const { registration } = useSession((state) => state.options);
  const [joining, setJoining] = useState(false);
  const [name, setName] = useState("");
  const [password, setPassword] = useState("");
  const [invite, setInvite] = useState("");
  const [fault, setFault] = useState("");
  const [busy, setBusy] = useState(false);
  const faultId = useId();
  const aboutName = fault !== "" && [say("nameTaken"), say("nameRule")].includes(fault);
  const aboutInvite = fault !== "" && fault === say("inviteWrong");
  const aboutPassword = fault !== "" && !aboutName && !aboutInvite;
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    // A browser may have filled in what it keeps.
    const fields = [...(form.current?.querySelectorAll("input") ?? [])];
    (fields.find((field) => field.value === "") ?? fields[0])?.focus({ preventScroll: true });
  }, []);

  const enter = async (): Promise<void> => {
    setBusy(true);
    setFault("");
    try {
      if (joining) await register(name.trim(), password, invite.trim() || null);
      else await signIn(name.trim(), password);
    } catch (error) {
      setFault(doorFault(error, words));
    } finally {
      setBusy(false);
    }
  };
  const swap = (): void => {
    setJoining(!joining);
    setFault("");
  };

  return (
    <div className="door">
      <main className="form">
        <div className="brand">
          <Logo />
          <span className="name">Caesura</span>
        </div>
        <form
          ref={form}
          className="in"
          onSubmit={(event) => {
            event.preventDefault();
            if (!busy) void enter();
          }}
        >
          <h1>
            <span>{say("verseA")}</span>
            <span className="bars" role="img" aria-label="‖" />
            <span className="drop">{say("verseB")}</span>
          </h1>
          <p className="lead">{say("signInLead")}</p>
          <label className="field">
            <span>{say("username")}</span>
            <input
              className={`input${aboutName ? " bad" : ""}`}
              name="username"
              autoComplete="username"
              autoCapitalize="none"
              spellCheck={false}
              required
              maxLength={50}
              value={name}
              aria-invalid={aboutName}
              aria-describedby={aboutName ? faultId : undefined}
              onChange={(event) => setName(event.target.value)}
            />
            {joining && fault !== say("nameRule") ? <small className="hint">{say("nameRule")}</small> : null}
          </label>
          <label className="field">
            <span>{say("password")}</span>
            <input
              className={`input${aboutPassword ? " bad" : ""}`}
              type="password"
              name="password"
              autoComplete={joining ? "new-password" : "current-password"}
              required
              value={password}
              aria-invalid={aboutPassword}
              aria-describedby={aboutPassword ? faultId : undefined}
              onChange={(event) => setPassword(event.target.value)}
            />
            {joining && fault !== say("passwordRule") ? <small className="hint">{say("passwordRule")}</small> : null}
          </label>
          {joining && registration === "invite" ? (
            <label className="field">
              <span>{say("invite")}</span>
              <input
                className={`input${aboutInvite ? " bad" : ""}`}
                name="invite"
                autoComplete="off"
                spellCheck={false}
                required
                value={invite}
                aria-invalid={aboutInvite}
                aria-describedby={aboutInvite ? faultId : undefined}
                onChange={(event) => setInvite(event.target.value)}
              />
            </label>
          ) : null}
          <div role="alert" className="fault-place">
            {fault ? (
              <span className="fault" id={faultId}>
                <Icon name="cross" small />
                <span>{fault}</span>
              </span>
            ) : null}
          </div>
          <button className="btn primary wide" type="submit" disabled={busy}>
            {say(joining ? "register" : "signIn")}
          </button>
          {registration === "closed" ? (
            <p className="swap">{say("registrationClosed")}</p>
          ) : (
            <p className="swap">
              <span>{say(joining ? "haveAccount" : "newHere")}</span>{" "}
              <button type="button" className="link" onClick={swap}>
                {say(joining ? "signIn" : "register")}
              </button>
            </p>
          )}
        </form>
        <div className="foot">
          <button type="button" onClick={() => void setLanguage(language === "zh" ? "en" : "zh")} lang={language === "zh" ? "en" : "zh"}>
            {language === "zh" ? "English" : "中文"}
          </button>
          <button type="button" onClick={() => setTheme(isDark(theme) ? "light" : "dark")}>
            {say("theme")}
          </button>
          <span className="grow" />
          <a href="/docs">{say("docsLink")}</a>
        </div>
      </main>
      <Art />
    </div>
  );
}
