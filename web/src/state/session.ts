// Who the person is, and whether the server still knows them.
import { create } from "zustand";

import * as api from "../api/calls";
import { ApiError, newKey, onRefused, onSessionEnd, setForgeryToken, wasRevoked } from "../api/client";
import { HOME } from "../api/root";
import type { Options, Session } from "../api/types";
import { claimTab, forgetDrafts } from "./drafts";
import { keep, kept, onKept } from "./kept";

/** `ended`: the page is shown, and the person must sign in again. `gone`: nothing is shown until the page is loaded anew.
 * `left`: the person has signed out, and the server does not know it yet. */
type Phase = "starting" | "unreachable" | "out" | "in" | "ended" | "gone" | "left";

interface SessionState {
  phase: Phase;
  user: string;
  options: Options;
  /** Counts sign-ins: what loads with a session loads again. */
  epoch: number;
  /** The person has ended the session of this browser from elsewhere. */
  revoked: boolean;
}

export const useSession = create<SessionState>()(() => ({
  phase: "starting",
  user: "",
  options: { auth: "password", registration: "open" },
  epoch: 0,
  revoked: false,
}));

function entered(session: Session): void {
  setForgeryToken(session.csrf);
  const { epoch, user } = useSession.getState();
  // A browser that stores nothing does not know who was here before: this page does.
  if ((kept("user") ?? user) !== session.user_id) forgetDrafts();
  claimTab(session.user_id);
  keep("user", session.user_id);
  keep(LEAVING, null);
  if (user && user !== session.user_id) {
    empty();
    location.assign(HOME);
    return;
  }
  useSession.setState({ phase: "in", user: session.user_id, epoch: epoch + 1 });
}

/** Kept anew with each sign-in: other tabs have the token of the session before. */
const SIGNED = "signed";

/** The person has signed in, maybe again, in another tab: what they do in this one belongs to that session. Returns whether it is the
 * same person. */
async function renew(): Promise<boolean> {
  const session = await api.session().catch(() => null);
  const { phase, user } = useSession.getState();
  if (!session || !["in", "ended", "out"].includes(phase)) return false;
  if (session.user_id === user && phase === "in") setForgeryToken(session.csrf);
  else entered(session);
  return session.user_id === user;
}

/** Kept while the person has signed out and the server could not be told. */
const LEAVING = "leaving";

/** Nothing of the person stays on the screen, also not for the browser's Back button. */
function empty(): void {
  useSession.setState({ phase: "gone" });
}

/** The session of this browser belongs to another person now, or to nobody: this tab shows nothing of the one before. */
export function checkPerson(user: string | null): void {
  const { user: own, phase } = useSession.getState();
  if (!own || user === own || phase === "gone" || phase === "left") return;
  empty();
  forgetDrafts();
  location.assign(HOME);
}

/** Watches what other tabs do, and the return to a page that the browser has kept as it was. */
export function followTabs(): void {
  onKept("user", checkPerson);
  onKept(SIGNED, (value) => value !== null && void renew());
  addEventListener("pageshow", (event) => {
    if (!event.persisted) return;
    const { phase, user } = useSession.getState();
    if (phase !== "gone" && kept("user") === user) return;
    empty();
    location.reload();
  });
}

export async function start(): Promise<void> {
  onRefused(renew);
  onSessionEnd((revoked) => {
    const { phase } = useSession.getState();
    if (phase !== "in" && phase !== "ended") return;
    if (revoked) thrownOut();
    else useSession.setState({ phase: "ended" });
  });
  // The tab that signs out may have done so after the server has told this one that the session holds.
  const left = kept(LEAVING);
  try {
    const [options, session] = await Promise.all([api.options(), api.session().catch(out)]);
    useSession.setState({ options });
    const leaving = left ?? kept(LEAVING);
    if (session && leaving !== null) {
      setForgeryToken(session.csrf);
      await signOut(leaving === "everywhere");
    } else if (session) entered(session);
    else useSession.setState({ phase: "out" });
  } catch {
    useSession.setState({ phase: "unreachable" });
  }
}

function out(error: unknown): null {
  if (!(error instanceof ApiError && error.status === 401)) throw error;
  if (wasRevoked(error)) {
    forgetPerson();
    useSession.setState({ revoked: true });
  }
  return null;
}

/** The person has ended this session from elsewhere: they may have left this device to somebody else. */
function thrownOut(): void {
  empty();
  forgetPerson();
  setForgeryToken("");
  location.assign(HOME);
}

/** Nothing of the person stays in this browser. Other tabs see that, and are emptied. */
function forgetPerson(): void {
  forgetDrafts();
  keep("user", null);
  keep(SIGNED, null);
}

export async function signIn(username: string, password: string): Promise<void> {
  entered(await api.signIn(username, password));
  keep(SIGNED, newKey());
}

export async function register(username: string, password: string, invite: string | null): Promise<void> {
  await api.register(username, password, invite);
  await signIn(username, password);
}

/** The person leaves: nothing of them stays in this browser, whether or not the server could be told. If not, it is told
 * when they try again or when the page is next opened. */
export async function signOut(everywhere = false): Promise<void> {
  empty();
  forgetPerson();
  keep(LEAVING, everywhere ? "everywhere" : "here");
  try {
    await (everywhere ? api.signOutEverywhere() : api.signOut());
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 401)) {
      useSession.setState({ phase: "left" });
      return;
    }
  }
  keep(LEAVING, null);
  setForgeryToken("");
  location.assign(HOME);
}

/** Tries again to tell the server. */
export function signOutAgain(): void {
  void signOut(kept(LEAVING) === "everywhere");
}
