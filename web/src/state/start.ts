// What begins with a session: agents, the feed, the list of conversations.
import { loadAgents } from "./agents";
import { followFeed, onFeed } from "./feed";
import { loadList } from "./list";
import { followOthers } from "./others";

/** Milliseconds after which the list is loaded although the feed has not begun. */
const PATIENCE = 1500;

export function startSession(): () => void {
  let loaded = false;
  // After the feed has begun: nothing that changes in between is missed.
  const list = (): void => {
    if (loaded) return;
    loaded = true;
    clearTimeout(timer);
    void loadList();
  };
  const timer = setTimeout(list, PATIENCE);
  const forget = onFeed((name) => {
    if (name === "ready") list();
  });
  const others = followOthers();
  let over = false;
  let troubles = (): void => undefined;
  void import("./troubles").then(
    ({ followTroubles }) => {
      if (!over) troubles = followTroubles();
    },
    () => undefined,
  );
  const end = followFeed();
  void loadAgents().catch(() => undefined);
  return () => {
    clearTimeout(timer);
    forget();
    others();
    over = true;
    troubles();
    end();
  };
}
