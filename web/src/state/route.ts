// Where the person is: the address of the page.
import { create } from "zustand";

import { HOME, ROOT } from "../api/root";
import { isCovered } from "./layers";

export type Route = { at: "new" } | { at: "inbox" } | { at: "conversation"; id: string } | { at: "nowhere" };

function routeOf(address: string): Route {
  // A proxy may leave the root path out.
  const path = address.startsWith(HOME) ? address.slice(ROOT.length) : address;
  if (path === "/" || path === ROOT || path === "/index.html") return { at: "new" };
  if (path === "/inbox") return { at: "inbox" };
  const found = /^\/c\/([A-Za-z0-9._-]{1,150})$/.exec(path);
  return found?.[1] ? { at: "conversation", id: found[1] } : { at: "nowhere" };
}

export const pathOf = (id: string): string => `${ROOT}/c/${encodeURIComponent(id)}`;

export const useRoute = create<Route>()(() => routeOf(location.pathname));

export function go(path: string, replace = false): void {
  if (path !== location.pathname) {
    // Who comes back should not find what covered the page open: the new place takes its step.
    if (replace || isCovered()) history.replaceState(null, "", path);
    else history.pushState(null, "", path);
  }
  useRoute.setState(routeOf(path), true);
}

export function followHistory(): void {
  addEventListener("popstate", () => useRoute.setState(routeOf(location.pathname), true));
}
