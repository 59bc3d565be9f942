import { Suspense, useEffect, useRef, useState, type MouseEvent } from "react";

import { shownLine } from "../log/shown";
import { useInbox } from "../state/inbox";
import { loadMore, useList } from "../state/list";
import { go, useRoute } from "../state/route";
import { useSession } from "../state/session";
import { toggleSide } from "../state/settings";
import { openDrawer, useView } from "../state/view";
import { useWords, type Key } from "../words/words";
import { Row } from "./Row";
import { Icon, Logo } from "./Icon";
import { keyName } from "./keys";
import { SettingsMenu } from "./lazy";
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
  return (
    <aside className="side" aria-label={say("conversations")} id="side" inert={narrow && !drawer}>
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
        <a className="row" href="/" onClick={visit} aria-current={route.at === "new" ? "page" : undefined}>
          <Icon name="plus" />
          <span>{say("newConversation")}</span>
          <span className="grow" />
          <kbd aria-hidden="true">{keyName("⌘", "⇧", "O")}</kbd>
        </a>
        <a className="row" href="/inbox" onClick={visit} aria-current={route.at === "inbox" ? "page" : undefined}>
          <Icon name="inbox" />
          <span>{say("inbox")}</span>
          <span className="grow" />
          {count > 0 ? <span className="count">{count > 99 ? "99+" : count}</span> : null}
        </a>
      </nav>
      <Rows />
      <Foot />
    </aside>
  );
}

function groupOf(at: number, today: number): Key {
  if (at >= today) return "today";
  return at >= today - 86_400_000 ? "yesterday" : "earlier";
}

function Rows() {
  const { say } = useWords();
  const { rows, order, next, phase } = useList();
  const end = useRef<HTMLDivElement>(null);
  const route = useRoute();
  const current = route.at === "conversation" ? route.id : null;

  useEffect(() => {
    const mark = end.current;
    if (!mark || !next) return;
    const watcher = new IntersectionObserver((seen) => seen.some((item) => item.isIntersecting) && void loadMore(), { rootMargin: "300px" });
    watcher.observe(mark);
    return () => watcher.disconnect();
  }, [next, order.length]);

  if (order.length === 0) return <p className="ghost-row list">{phase === "ready" ? say("sideEmpty") : ""}</p>;
  const midnight = new Date().setHours(0, 0, 0, 0);
  let group = "";
  return (
    <div className="list" tabIndex={-1}>
      {order.flatMap((id) => {
        const row = rows[id];
        if (!row) return [];
        const own = groupOf(row.updated_at, midnight);
        const head = own === group ? [] : [<h2 key={own}>{say(own)}</h2>];
        group = own;
        return [...head, <Row key={id} row={row} current={id === current} />];
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
