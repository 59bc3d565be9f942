// Who the person is, and whether the server still knows them.
import { create } from "zustand";

import * as api from "../api/calls";
import { ApiError, onSessionEnd, setForgeryToken } from "../api/client";
import type { Options, Session } from "../api/types";
import { forgetDrafts } from "./drafts";
import { keep, kept } from "./kept";

/** `ended`: the page is shown, and the person must sign in again. */
type Phase = "starting" | "unreachable" | "out" | "in" | "ended";

interface SessionState {
  phase: Phase;
  user: string;
  options: Options;
  /** Counts sign-ins: what loads with a session loads again. */
  epoch: number;
}

export const useSession = create<SessionState>()(() => ({
  phase: "starting",
  user: "",
  options: { auth: "password", registration: "open" },
  epoch: 0,
}));

function entered(session: Session): void {
  setForgeryToken(session.csrf);
  const { epoch, user } = useSession.getState();
  if (kept("user") !== session.user_id) forgetDrafts();
  keep("user", session.user_id);
  if (user && user !== session.user_id) location.assign("/");
  useSession.setState({ phase: "in", user: session.user_id, epoch: epoch + 1 });
}

export async function start(): Promise<void> {
  onSessionEnd(() => {
    if (useSession.getState().phase === "in") useSession.setState({ phase: "ended" });
  });
  try {
    const [options, session] = await Promise.all([api.options(), api.session().catch(out)]);
    useSession.setState({ options });
    if (session) entered(session);
    else useSession.setState({ phase: "out" });
  } catch {
    useSession.setState({ phase: "unreachable" });
  }
}

function out(error: unknown): null {
  if (error instanceof ApiError && error.status === 401) return null;
  throw error;
}

export async function signIn(username: string, password: string): Promise<void> {
  entered(await api.signIn(username, password));
}

export async function register(username: string, password: string, invite: string | null): Promise<void> {
  await api.register(username, password, invite);
  await signIn(username, password);
}

/** The person leaves: nothing of them stays in this browser, whether or not the server could be told. */
export async function signOut(everywhere = false): Promise<void> {
  await (everywhere ? api.signOutEverywhere() : api.signOut()).catch((error: unknown) => {
    if (!(error instanceof ApiError && error.status === 401)) throw error;
  });
  forgetDrafts();
  keep("user", null);
  setForgeryToken("");
  location.assign("/");
}
