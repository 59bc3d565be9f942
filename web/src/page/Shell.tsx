import { Suspense, useEffect } from "react";

import { HOME, ROOT } from "../api/root";
import { shownLine } from "../log/shown";
import { isLive } from "../log/turn";
import { announce, useAnnouncement } from "../state/announce";
import { useConnection } from "../state/connection";
import { useInbox } from "../state/inbox";
import { useList } from "../state/list";
import { go, useRoute } from "../state/route";
import { useSession } from "../state/session";
import { toggleSide, useSettings } from "../state/settings";
import { startSession } from "../state/start";
import { forgive, stop } from "../state/doing";
import { leave, open, reload } from "../state/opening";
import { useThread } from "../state/thread";
import { moved, openDialog, openDocument, openDrawer, useView } from "../state/view";
import { useWords } from "../words/words";
import { jumpToNext } from "./asks/focus";
import { Bar } from "./Bar";
import { Conversation } from "./Conversation";
import { command, isWriting } from "./keys";
import { AgainDialog, Dialogs, Inbox, Panel, prefetch, Rescue, Written } from "./lazy";
import { Nowhere } from "./Opening";
import { usePainted } from "./painted";
import { focusBox } from "./places";
import { Sidebar } from "./Sidebar";
import { NARROW, useMedia } from "./useMedia";

/** The page of a person who is signed in. */
export function Shell() {
  const { say } = useWords();
  const route = useRoute();
  const id = route.at === "conversation" ? route.id : null;
  const ended = useSession((state) => state.phase === "ended");
  const { drawer, document: shown } = useView();
  const sideHidden = useSettings((state) => state.sideHidden);
  const asks = useThread((state) => state.id === id && (state.entries.at(-1)?.log.pending.length ?? 0) > 0);

  useSessionStart();
  useOpening(id);
  useKeys();
  useTitle(id);
  useNews();
  useEffect(prefetch, []);
  const late = usePainted();

  const hasBox = route.at === "new" || route.at === "conversation";
  const panel = id !== null && shown !== null;
  const style = ["app", panel ? "has-panel" : "", drawer ? "has-drawer" : "", asks ? "asks" : "", sideHidden ? "no-side" : "", ended ? "away" : ""].filter(Boolean).join(" ");
  return (
    <>
      <div className={style} inert={ended}>
        <a
          className="skip-to"
          href={hasBox ? "#box" : "#scroll"}
          onClick={(event) => {
            event.preventDefault();
            focusBox(true);
          }}
        >
          {say(hasBox ? "skipToBox" : "skipToMain")}
        </a>
        <Sidebar />
        {drawer ? <button type="button" className="drawer-scrim" aria-label={say("hideSidebar")} onClick={() => openDrawer(false)} /> : null}
        <main className="main" inert={drawer}>
          <Bar />
          {route.at === "inbox" ? (
            <Suspense fallback={<div className="scroll" />}>
              <Inbox />
            </Suspense>
          ) : route.at === "nowhere" ? <Nowhere /> : <Conversation id={id} />}
        </main>
        {panel ? (
          <aside className="panel" aria-label={say("documents")} id="panel" tabIndex={-1} inert={drawer}>
            <Suspense fallback={<div className="bar" />}>
              <Panel conversation={id} document={shown} />
            </Suspense>
          </aside>
        ) : null}
      </div>
      <Suspense>
        {late ? <Dialogs /> : null}
        {ended ? <AgainDialog /> : null}
        {late ? <Rescue /> : null}
        {late ? <Written /> : null}
      </Suspense>
      <Announcer />
    </>
  );
}

function Announcer() {
  const text = useAnnouncement((state) => state.text);
  return (
    <div className="sr" role="status" aria-live="polite">
      {text}
    </div>
  );
}

function useSessionStart(): void {
  const epoch = useSession((state) => state.epoch);
  useEffect(() => {
    const end = startSession();
    // The same person signed in again over the page: what was cut off is read anew.
    if (useThread.getState().id) void reload();
    return end;
  }, [epoch]);
}

function useOpening(id: string | null): void {
  useEffect(() => {
    moved();
    if (id) void open(id);
    else leave();
  }, [id]);
}

function useKeys(): void {
  const narrow = useMedia(NARROW);
  useEffect(() => {
    const pressed = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || event.isComposing) return;
      if (command(event)) {
        if (event.shiftKey && event.key.toLowerCase() === "o") go(HOME);
        else if (event.shiftKey && event.key === "Enter") {
          if (!jumpToNext()) go(`${ROOT}/inbox`);
        } else if (!event.shiftKey && event.key.toLowerCase() === "b") {
          if (narrow) openDrawer(!useView.getState().drawer);
          else toggleSide();
        } else if (event.key === "/") openDialog({ kind: "shortcuts" });
        else if (!event.shiftKey && event.key.toLowerCase() === "k") find(narrow);
        else return;
        event.preventDefault();
      } else if (event.key === "Escape") escape();
      else if (event.key === "/" && !isWriting(event.target) && !event.altKey && document.getElementById("box")) {
        event.preventDefault();
        focusBox(true);
      }
    };
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  }, [narrow]);
}

/** Shows the sidebar, and puts the caret where a title is looked for. */
function find(narrow: boolean): void {
  if (narrow) openDrawer(true);
  else if (useSettings.getState().sideHidden) toggleSide();
  setTimeout(() => document.getElementById("search")?.focus(), 0);
}

/** Esc closes what is open; with nothing open it stops what runs. */
function escape(): void {
  const view = useView.getState();
  if (view.drawer) openDrawer(false);
  else if (view.document) openDocument(null);
  else {
    const last = useThread.getState().entries.at(-1);
    if (last && isLive(last.log.status) && last.log.status !== "waiting") void stop();
  }
}

function useTitle(id: string | null): void {
  const { say } = useWords();
  const route = useRoute();
  const count = useInbox((state) => state.count);
  const title = useList((state) => (id ? state.rows[id]?.title : null));
  const ended = useSession((state) => state.phase === "ended");
  useEffect(() => {
    const name = ended ? null : route.at === "inbox" ? say("inbox") : title && shownLine(title);
    document.title = `${count > 0 ? `(${count}) ` : ""}${name ? `${name} · ` : ""}Caesura`;
    const icon = document.querySelector<HTMLLinkElement>("link[rel=icon]");
    const wanted = count > 0 ? `${ROOT}/favicon-waits.svg` : `${ROOT}/favicon.svg`;
    if (icon && icon.getAttribute("href") !== wanted) icon.setAttribute("href", wanted);
  }, [count, title, route.at, ended, say]);
}

/** Tells people who do not see the page what happened. */
function useNews(): void {
  const { say } = useWords();
  useEffect(() => {
    const connection = useConnection.subscribe((now, before) => {
      if (now.lost && !before.lost) announce(say("connectionLost"));
      if (!now.lost && before.lost) {
        announce(say("connectionBack"));
        forgive();
      }
    });
    const thread = useThread.subscribe((now, before) => {
      const last = now.entries.at(-1);
      const old = before.entries.at(-1);
      if (last && old && last.turn.id === old.turn.id && last.log.status === "done" && old.log.status === "running") announce(say("answerReady"));
    });
    return () => {
      connection();
      thread();
    };
  }, [say]);
}
