import { Suspense, useEffect, useRef, useState, type KeyboardEvent, type MouseEvent, type RefObject } from "react";

import { serverNow } from "../api/clock";
import { HOME, ROOT } from "../api/root";
import type { Conversation } from "../api/types";
import { shownLine } from "../log/shown";
import { useInbox } from "../state/inbox";
import { loadMore, useList } from "../state/list";
import { go, useRoute } from "../state/route";
import { search, searchMore, useSearch } from "../state/search";
import { useSession } from "../state/session";
import { toggleSide } from "../state/settings";
import { openDrawer, useView } from "../state/view";
import { useWords, type Key } from "../words/words";
import { Row } from "./Row";
import { Icon, Logo } from "./Icon";
import { keyName } from "./keys";
import { SettingsMenu } from "./lazy";
import { focusBox } from "./places";
import { useMedia, NARROW } from "./useMedia";

/** Follows a link inside the page, unless the person wants it in another tab. */
export function visit(event: MouseEvent<HTMLAnchorElement>): void {
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return;
  event.preventDefault();
  go(new URL(event.currentTarget.href).pathname);
}

export function Sidebar() {
  const { say } = useWords();
  const route = useRoute();
  const count = useInbox((state) => state.count);
  const narrow = useMedia(NARROW);
  const drawer = useView((state) => state.drawer);
  const side = useRef<HTMLElement>(null);
  useDrawerFocus(side, drawer);
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions
    <aside ref={side} className="side" aria-label={say("conversations")} id="side" inert={narrow && !drawer} onKeyDown={(event) => drawer && stayInside(event)}>
      <div className="side-top">
        <Logo />
        <span className="name">Caesura</span>
        <span className="grow" />
        <button
          type="button"
          className="icon"
          aria-label={say("hideSidebar")}
          title={`${say("hideSidebar")} (${keyName("⌘", "B")})`}
          onClick={() => (narrow ? openDrawer(false) : toggleSide())}
        >
          <Icon name="side" />
        </button>
      </div>
      <nav>
        <a className="row" href={HOME} title={`${say("newConversation")} (${keyName("⌘", "⇧", "O")})`} onClick={visit} aria-current={route.at === "new" ? "page" : undefined}>
          <Icon name="plus" />
          <span>{say("newConversation")}</span>
          <span className="grow" />
          <kbd aria-hidden="true">{keyName("⌘", "⇧", "O")}</kbd>
        </a>
        <a className="row" href={`${ROOT}/inbox`} onClick={visit} aria-current={route.at === "inbox" ? "page" : undefined}>
          <Icon name="inbox" />
          <span>{say("inbox")}</span>
          <span className="grow" />
          {count > 0 ? <span className="count">{count > 99 ? "99+" : count}</span> : null}
        </a>
      </nav>
      <Find />
      <Rows />
      <Foot />
    </aside>
  );
}

const CONTROLS = "a[href], button:not([disabled]), input";

/** An open drawer takes the focus, and gives it back. */
function useDrawerFocus(side: RefObject<HTMLElement | null>, drawer: boolean): void {
  useEffect(() => {
    const box = side.current;
    if (!drawer || !box) return;
    const opener = document.activeElement instanceof HTMLElement ? document.activeElement : null;
    if (!box.contains(opener)) box.querySelector<HTMLElement>(CONTROLS)?.focus({ preventScroll: true });
    return () => {
      // Elsewhere the focus has gone on by itself.
      if (document.activeElement !== document.body && !box.contains(document.activeElement)) return;
      if (opener?.isConnected && opener !== document.body) opener.focus({ preventScroll: true });
      else focusBox();
    };
  }, [side, drawer]);
}

/** Tab goes round inside the drawer. */
function stayInside(event: KeyboardEvent<HTMLElement>): void {
  if (event.key !== "Tab") return;
  const all = [...event.currentTarget.querySelectorAll<HTMLElement>(CONTROLS)].filter((item) => item.tabIndex >= 0);
  const edge = event.shiftKey ? all[0] : all.at(-1);
  if (document.activeElement !== edge) return;
  event.preventDefault();
  (event.shiftKey ? all.at(-1) : all[0])?.focus();
}

/** Where a part of a title is typed. */
function Find() {
  const { say } = useWords();
  const query = useSearch((state) => state.query);
  return (
    <div className="find">
      <Icon name="find" />
      <input
        id="search"
        type="search"
        aria-label={say("search")}
        placeholder={say("search")}
        aria-keyshortcuts="Control+K Meta+K"
        autoComplete="off"
        maxLength={200}
        value={query}
        onChange={(event) => search(event.target.value)}
        onKeyDown={found}
      />
      <kbd aria-hidden="true">{keyName("⌘", "K")}</kbd>
    </div>
  );
}

/** ↵ opens the first conversation that was found, ↓ leads to it, Esc ends the search. */
function found(event: KeyboardEvent<HTMLInputElement>): void {
  if (event.nativeEvent.isComposing) return;
  const first = document.querySelector<HTMLElement>(".list [data-row]");
  if (event.key === "Escape" && event.currentTarget.value !== "") {
    event.stopPropagation();
    search("");
  } else if (event.key === "ArrowDown") {
    event.preventDefault();
    first?.focus();
  } else if (event.key === "Enter" && event.currentTarget.value.trim() !== "") first?.click();
}

function groupOf(at: number, today: number): Key {
  if (at >= today) return "today";
  return at >= today - 86_400_000 ? "yesterday" : "earlier";
}

/** Whatever is found, or all conversations by their days. */
function Rows() {
  const searching = useSearch((state) => state.query.trim() !== "");
  return searching ? <Found /> : <All />;
}

function All() {
  const { say } = useWords();
  const { rows, order, next, phase } = useList();
  const shown = order.flatMap((id) => rows[id] ?? []);
  if (shown.length === 0) return <p className="ghost-row list">{phase === "ready" ? say("sideEmpty") : ""}</p>;
  return <List rows={shown} next={next} more={loadMore} byDay />;
}

function Found() {
  const { say } = useWords();
  const { found, next, phase } = useSearch();
  const known = useList((state) => state.rows);
  // What has changed since is known from the feed.
  const shown = found.map((row) => known[row.id] ?? row);
  if (shown.length > 0) return <List rows={shown} next={next} more={searchMore} />;
  return (
    <p className="ghost-row list" role="status">
      {say(phase === "loading" ? "searching" : phase === "failed" ? "loadFailed" : "nothingFound")}
    </p>
  );
}

interface ListProps {
  rows: Conversation[];
  next: string | null;
  more: () => Promise<void>;
  byDay?: boolean;
}

/** Rows of conversations: one stop for Tab, and the arrows lead from row to row. */
function List({ rows, next, more, byDay = false }: ListProps) {
  const { say } = useWords();
  const end = useRef<HTMLDivElement>(null);
  const route = useRoute();
  const current = route.at === "conversation" ? route.id : null;
  const [focused, setFocused] = useState<string | null>(null);
  const has = (id: string | null): id is string => id !== null && rows.some((row) => row.id === id);
  const stop = has(focused) ? focused : has(current) ? current : rows[0]?.id;

  useEffect(() => {
    const mark = end.current;
    if (!mark || !next) return;
    const watcher = new IntersectionObserver((seen) => seen.some((item) => item.isIntersecting) && void more(), { rootMargin: "300px" });
    watcher.observe(mark);
    return () => watcher.disconnect();
  }, [next, rows.length, more]);

  const midnight = new Date(serverNow()).setHours(0, 0, 0, 0);
  let group = "";
  return (
    // The links in it are the controls: the list only leads from one to the next.
    // oxlint-disable-next-line jsx-a11y/no-static-element-interactions
    <div className="list" tabIndex={-1} onKeyDown={walk}>
      {rows.flatMap((row) => {
        const own = groupOf(row.updated_at, midnight);
        const head = !byDay || own === group ? [] : [<h2 key={own}>{say(own)}</h2>];
        group = own;
        return [...head, <Row key={row.id} row={row} current={row.id === current} stop={row.id === stop} onStop={setFocused} />];
      })}
      <div ref={end} />
      {next ? (
        <p className="ghost-row" role="status">
          {say("loadingMore")}
        </p>
      ) : null}
    </div>
  );
}

/** ↑ ↓ Home End lead through the rows, → or the menu key opens the menu of one. */
function walk(event: KeyboardEvent<HTMLElement>): void {
  if (!(event.target instanceof HTMLAnchorElement) || event.ctrlKey || event.metaKey || event.altKey) return;
  const links = [...event.currentTarget.querySelectorAll<HTMLElement>("[data-row]")];
  const at = links.indexOf(event.target);
  const menu = event.key === "ArrowRight" || event.key === "ContextMenu" || (event.key === "F10" && event.shiftKey);
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: links.length - 1 }[event.key];
  if (!menu && to === undefined) return;
  event.preventDefault();
  if (menu) event.target.parentElement?.querySelector<HTMLElement>(".more")?.click();
  else if (to !== undefined && to < 0) document.getElementById("search")?.focus();
  else links[Math.min(to ?? at, links.length - 1)]?.focus();
}

function Foot() {
  const { say } = useWords();
  const user = useSession((state) => state.user);
  const [open, setOpen] = useState(false);
  return (
    <div className="side-foot">
      <button type="button" className="row" aria-haspopup="menu" aria-expanded={open} onClick={() => setOpen(!open)}>
        <span className="face" aria-hidden="true">
          {(user[0] ?? "?").toUpperCase()}
        </span>
        <span className="t">{shownLine(user)}</span>
        <span className="sr">{say("settings")}</span>
        <span className="grow" />
        <Icon name="dots" />
      </button>
      <Suspense>{open ? <SettingsMenu onClose={() => setOpen(false)} /> : null}</Suspense>
    </div>
  );
}
