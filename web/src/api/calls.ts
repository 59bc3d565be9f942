// One function for each route that the page uses.
import { insist, request } from "./client";
import type { Agent, Artifact, ArtifactVersion, Asked, Conversation, Grant, NewAnswer, NewTurn, Options, Session, Snapshot, Turn } from "./types";

const V2 = "/api/v2";
const enc = encodeURIComponent;

// --- people

export const options = () => request<Options>("/api/auth/options", { door: true });
export const session = () => request<Session>("/api/auth/session", { door: true });
export const signIn = (username: string, password: string) =>
  request<Session>("/api/auth/session", { method: "POST", body: { username, password }, door: true });
export const register = (username: string, password: string, invite: string | null) =>
  request<{ user_id: string }>("/api/auth/register", { method: "POST", body: { username, password, ...(invite ? { invite } : {}) }, door: true });
export const signOut = () => request<undefined>("/api/auth/session", { method: "DELETE", door: true });
export const signOutEverywhere = () => request<undefined>("/api/auth/sessions", { method: "DELETE", door: true });
export const agents = () => request<{ agents: Agent[] }>(`${V2}/agents`);

// --- conversations

export interface ConversationPage {
  conversations: Conversation[];
  total: number;
  next: string | null;
}

export const conversations = (cursor: string | null, limit = 40, query = "") =>
  request<ConversationPage>(`${V2}/conversations?limit=${limit}${query ? `&query=${enc(query)}` : ""}${cursor ? `&cursor=${enc(cursor)}` : ""}`);
export const createConversation = (agent: string | null, key: string) =>
  insist<Conversation>(`${V2}/conversations`, { method: "POST", body: agent ? { agent } : {}, key });
export const rename = (id: string, title: string) => request<Conversation>(`${V2}/conversations/${enc(id)}`, { method: "PATCH", body: { title } });
export const remove = (id: string) => request<undefined>(`${V2}/conversations/${enc(id)}`, { method: "DELETE" });
export const snapshot = (id: string, cursor: string | null, limit: number, signal?: AbortSignal) =>
  request<Snapshot>(`${V2}/conversations/${enc(id)}/snapshot?limit=${limit}${cursor ? `&cursor=${enc(cursor)}` : ""}`, signal ? { signal } : {});
export const activate = (id: string, turn: string) => request<Conversation>(`${V2}/conversations/${enc(id)}/branch`, { method: "POST", body: { turn_id: turn } });
export const markRead = (id: string, turn: string, cursor: number) =>
  request<undefined>(`${V2}/conversations/${enc(id)}/read`, { method: "PUT", body: { turn_id: turn, cursor }, last: true });
export const grants = (id: string) => request<{ grants: Grant[] }>(`${V2}/conversations/${enc(id)}/grants`);
export const revoke = (id: string, tool: string) => request<undefined>(`${V2}/conversations/${enc(id)}/grants/${enc(tool)}`, { method: "DELETE" });

// --- turns

export const send = (id: string, turn: NewTurn, key: string) => insist<Turn>(`${V2}/conversations/${enc(id)}/turns`, { method: "POST", body: turn, key });
export const stop = (turn: string) => request<{ stopped: boolean }>(`${V2}/turns/${enc(turn)}/stop`, { method: "POST" });
export const retry = (turn: string, key: string) => insist<Turn>(`${V2}/turns/${enc(turn)}/retry`, { method: "POST", key });
export const regenerate = (turn: string, key: string) => insist<Turn>(`${V2}/turns/${enc(turn)}/regenerate`, { method: "POST", key });
export const eventsOf = (turn: string) => `${V2}/turns/${enc(turn)}/events`;
export const FEED = `${V2}/feed`;

// --- what waits

export interface InboxPage {
  interrupts: Asked[];
  next: string | null;
}

export const inbox = (cursor: string | null, limit = 50) =>
  request<InboxPage>(`${V2}/interrupts?limit=${limit}${cursor ? `&cursor=${enc(cursor)}` : ""}`);
export const interrupt = (id: string) => request<Asked>(`${V2}/interrupts/${enc(id)}`);
export const answer = (id: string, given: NewAnswer, key: string) => insist<Turn>(`${V2}/interrupts/${enc(id)}/answer`, { method: "POST", body: given, key });

// --- documents

const documents = (id: string) => `${V2}/conversations/${enc(id)}/artifacts`;
export const artifacts = (id: string) => request<{ artifacts: Artifact[] }>(documents(id));
export const versions = (id: string, artifact: string) => request<{ versions: ArtifactVersion[] }>(`${documents(id)}/${enc(artifact)}/versions`);
export const version = (id: string, artifact: string, number: number) =>
  request<{ content: string }>(`${documents(id)}/${enc(artifact)}/versions/${number}`);
export const addVersion = (id: string, artifact: string, content: string, base: number) =>
  request<Artifact>(`${documents(id)}/${enc(artifact)}/versions`, { method: "POST", body: { content, base } });
