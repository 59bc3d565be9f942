import "../styles/door.css";
import { useEffect, useRef, useState } from "react";

import { ApiError } from "../api/client";
import { ROOT } from "../api/root";
import { register, signIn, useSession } from "../state/session";
import { isDark, setLanguage, setTheme, useSettings } from "../state/settings";
import { refusalText } from "../words/faults";
import { learnAll, useWords, type Key, type Words } from "../words/words";
import { Art } from "./Art";
import { DoorField } from "./DoorField";
import { Icon, Logo } from "./Icon";

/** Why the door stays closed. */
export function doorFault(error: unknown, words: Words, wrong: Key = "wrongLogin"): string {
  const { say } = words;
  if (!(error instanceof ApiError)) return say("noServer");
  if (error.status === 401) return say(wrong);
  if (error.status === 429) return say("tooManyTries");
  if (error.unreachable || error.status >= 500) return say("noServer");
  return refusalText(error, words);
}

const FIELDS = ["username", "password", "invite"] as const;
type Field = (typeof FIELDS)[number];
/** What is wrong with each field, and with none of them. */
type Faults = Partial<Record<Field | "all", string>>;

/** The rules of the server. It has the last word. */
const NAME = /^[a-z0-9][a-z0-9._-]{0,49}$/;
const SHORTEST = 8;

function unfit(given: Partial<Record<Field, string>>, joining: boolean, { say }: Words): Faults {
  const found: Faults = {};
  for (const field of FIELDS) if (given[field] === "") found[field] = say("fillIn");
  if (joining && !found.username && !NAME.test(given.username ?? "")) found.username = say("nameRule");
  if (joining && !found.password && [...(given.password ?? "")].length < SHORTEST) found.password = say("passwordRule");
  return found;
}

const PLACES: Record<string, Field> = { username_taken: "username", bad_username: "username", bad_password: "password", bad_invite: "invite" };

/** Below which field a fault stands. */
function placeOf(error: unknown): Field | "all" {
  if (!(error instanceof ApiError)) return "all";
  return Object.hasOwn(PLACES, error.code) ? (PLACES[error.code] ?? "all") : error.status === 401 ? "password" : "all";
}

export function Door() {
  const words = useWords();
  const { say, language } = words;
  const theme = useSettings((state) => state.theme);
  const { registration } = useSession((state) => state.options);
  const revoked = useSession((state) => state.revoked);
  useEffect(() => {
    if (revoked) void learnAll(language);
  }, [revoked, language]);
  const [joining, setJoining] = useState(false);
  const [name, setName] = useState("");
  const [password, setPassword] = useState("");
  const [invite, setInvite] = useState("");
  const [faults, setFaults] = useState<Faults>({});
  const [busy, setBusy] = useState(false);
  const invited = joining && registration === "invite";
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    // A browser may have filled in what it keeps.
    const fields = [...(form.current?.querySelectorAll("input") ?? [])];
    (fields.find((field) => field.value === "") ?? fields[0])?.focus({ preventScroll: true });
  }, []);

  useEffect(() => {
    const [first] = FIELDS.filter((field) => faults[field]);
    if (first) form.current?.querySelector<HTMLInputElement>(`input[name=${first}]`)?.focus();
  }, [faults]);

  const enter = async (): Promise<void> => {
    const given = { username: name.trim(), password, ...(invited ? { invite: invite.trim() } : {}) };
    const found = unfit(given, joining, words);
    setFaults(found);
    if (Object.keys(found).length > 0) return;
    setBusy(true);
    try {
      if (joining) await register(name.trim(), password, invite.trim() || null);
      else await signIn(name.trim(), password);
    } catch (error) {
      setFaults({ [placeOf(error)]: doorFault(error, words) });
    } finally {
      setBusy(false);
    }
  };
  const swap = (byKey: boolean): void => {
    setJoining(!joining);
    setFaults({});
    // Who uses the keyboard would have to go back through the form.
    if (byKey) form.current?.querySelector("input")?.focus();
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
          // The page tells all that is wrong at once, in its own language.
          noValidate
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
          <p className="lead" role={revoked ? "status" : undefined}>
            {(revoked && say("signedOutElsewhere")) || say("signInLead")}
          </p>
          <DoorField
            label={say("username")}
            hint={joining ? say("nameRule") : ""}
            fault={faults.username ?? ""}
            name="username"
            autoComplete="username"
            autoCapitalize="none"
            spellCheck={false}
            maxLength={50}
            value={name}
            onChange={setName}
          />
          <DoorField
            label={say("password")}
            hint={joining ? say("passwordRule") : ""}
            fault={faults.password ?? ""}
            type="password"
            name="password"
            autoComplete={joining ? "new-password" : "current-password"}
            value={password}
            onChange={setPassword}
          />
          {invited ? <DoorField label={say("invite")} fault={faults.invite ?? ""} name="invite" autoComplete="off" spellCheck={false} value={invite} onChange={setInvite} /> : null}
          <div role="alert" className="fault-place">
            {faults.all ? (
              <span className="fault">
                <Icon name="cross" small />
                <span>{faults.all}</span>
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
              <button type="button" className="link" onClick={(event) => swap(event.detail === 0)}>
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
          <a href={`${ROOT}/docs`}>{say("docsLink")}</a>
        </div>
      </main>
      <Art />
    </div>
  );
}
