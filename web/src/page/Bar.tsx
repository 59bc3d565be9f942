import { Suspense, useState } from "react";

import { HOME } from "../api/root";
import { shownLine } from "../log/shown";
import { useAgents, defaultAgent } from "../state/agents";
import { useInbox } from "../state/inbox";
import { useList } from "../state/list";
import { useRoute } from "../state/route";
import { toggleSide, useSettings } from "../state/settings";
import { useThread } from "../state/thread";
import { openConnect, openDocument, openDrawer, useView } from "../state/view";
import { useWords } from "../words/words";
import { Icon } from "./Icon";
import { Connect, ConversationMenu } from "./lazy";
import { focusPanel } from "./places";
import { visit } from "./Sidebar";
import { NARROW, useMedia } from "./useMedia";

/** Whether rules speak here instead of a model. */
export function useDemo(): boolean {
  const route = useRoute();
  const agent = useThread((state) => state.conversation?.agent);
  const { agents, chosen } = useAgents();
  const name = route.at === "conversation" ? (chosen ?? agent) : chosen;
  const found = agents.find((item) => item.name === name) ?? defaultAgent(agents);
  return found?.demo ?? false;
}

export function Bar() {
  const { say } = useWords();
  const route = useRoute();
  const id = route.at === "conversation" ? route.id : null;
  const title = useList((state) => (id ? state.rows[id]?.title : null));
  const own = useThread((state) => (state.id === id ? state.conversation?.title : null));
  const phase = useThread((state) => state.phase);
  const documents = useThread((state) => state.artifacts);
  const shownDocument = useView((state) => state.document);
  const sideHidden = useSettings((state) => state.sideHidden);
  const waits = useInbox((state) => state.count);
  const narrow = useMedia(NARROW);
  const demo = useDemo();
  const connect = useView((state) => state.connect);
  const [menu, setMenu] = useState(false);
  const here = id !== null && phase === "ready";
  const name = route.at === "inbox" ? say("inbox") : id && phase !== "missing" ? (title ?? own ?? "") : "";
  return (
    <header className="bar">
      <button
        type="button"
        className={`icon only-drawer${sideHidden ? " always" : ""}`}
        aria-label={waits > 0 ? `${say("openSidebar")}. ${say("waitsPill", waits)}` : say("openSidebar")}
        title={say("openSidebar")}
        onClick={() => (narrow || !sideHidden ? openDrawer(true) : toggleSide())}
      >
        <Icon name="side" />
        {waits > 0 ? <span className="count">{waits > 99 ? "99+" : waits}</span> : null}
      </button>
      <h1>{shownLine(name) || <span className="sr">Caesura</span>}</h1>
      {demo && here ? (
        <button type="button" className="model" aria-haspopup="dialog" onClick={() => openConnect(true)}>
          {say("demo")}
        </button>
      ) : null}
      <span className="grow" />
      {here && documents.length > 0 && shownDocument === null ? (
        <button type="button" className="btn bare tight" id="docs" onClick={() => openPanel(documents.at(-1)?.id ?? null)} aria-label={`${say("documents")} ${documents.length}`}>
          <Icon name="doc" />
          <span className="hide-phone">{say("documents")}</span>{" "}
          <span className="num">{documents.length}</span>
        </button>
      ) : null}
      {route.at !== "new" ? (
        <a className={`icon only-drawer${sideHidden ? " always" : ""}`} href={HOME} onClick={visit} aria-label={say("newConversation")} title={say("newConversation")}>
          <Icon name="plus" />
        </a>
      ) : null}
      {here ? (
        <span className="anchor">
          <button type="button" className="icon" aria-label={say("more")} title={say("more")} aria-haspopup="menu" aria-expanded={menu} onClick={() => setMenu(!menu)}>
            <Icon name="dots" />
          </button>
          <Suspense>
            {menu ? (
              <ConversationMenu
                id={id}
                open
                className="small right"
                onRename={() => {
                  if (narrow) openDrawer(true);
                  else if (sideHidden) toggleSide();
                }}
                onClose={() => setMenu(false)}
              />
            ) : null}
          </Suspense>
        </span>
      ) : null}
      <Suspense>{connect ? <Connect /> : null}</Suspense>
    </header>
  );
}

/** Its button goes: the panel takes the focus. */
function openPanel(id: string | null): void {
  openDocument(id);
  focusPanel();
}
