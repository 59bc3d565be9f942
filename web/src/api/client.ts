// Requests to the server. The browser sends the cookie by itself; a request that changes something carries the token
// against forged requests.
import { learnClock, ticks } from "./clock";
import { readJson, writeJson } from "./json";
import { ROOT } from "./root";

export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly more: Record<string, unknown> = {},
    /** Seconds after which the server wants to be asked again. */
    readonly retryAfter: number | null = null,
  ) {
    super(message);
  }

  /** Whether no working server answered: what came is not Caesura's, or nothing came. The request may have been done nevertheless. */
  get unreachable(): boolean {
    return this.status === 0 || this.status === 502 || this.status === 503 || this.status === 504;
  }
}

/** Whether nobody knows what became of the request: a server that cannot store anything says so. */
export const isSilent = (error: unknown): boolean => !(error instanceof ApiError) || (error.unreachable && error.code !== "unavailable");

/** Whether the request may have been done although no good answer came. The same one may have been sent before: then a
 * refusal that comes before the key is looked up, such as one for a session that ended, says nothing about it. */
export function mayBeDone(error: unknown): boolean {
  return !(error instanceof ApiError) || error.status === 0 || error.status >= 500 || [401, 403, 429].includes(error.status);
}

let forgery = "";
let renew: () => Promise<boolean> = () => Promise.resolve(false);
let ended: (revoked: boolean) => void = () => undefined;
let heard: () => void = () => undefined;
let stored: (stored: boolean) => void = () => undefined;

/** The token of the session against forged requests. */
export function setForgeryToken(token: string): void {
  forgery = token;
}

/** Called when a request was refused, maybe because the person has signed in again in another tab: gives the token of the new session.
 * False: it is another person's, and what this one asked for is not sent in their name. */
export function onRefused(listener: () => Promise<boolean>): void {
  renew = listener;
}

/** Called when the server no longer knows the session: it has expired, or the person has ended it elsewhere. */
export function onSessionEnd(listener: (revoked: boolean) => void): void {
  ended = listener;
}

/** The server says that there is no session. */
export function sessionEnded(error: ApiError): void {
  ended(wasRevoked(error));
}

/** Whether the session was ended before its time: the person has signed out everywhere, or changed the password. */
export function wasRevoked(error: ApiError): boolean {
  return error.code === "revoked";
}

export function retryAfter(response: Response): number | null {
  const seconds = Number(response.headers.get("Retry-After") ?? "");
  return Number.isFinite(seconds) && seconds > 0 ? Math.min(seconds, 600) : null;
}

/** Called when the server has answered. */
export function onHeard(listener: () => void): void {
  heard = listener;
}

/** Called when the server could store what it was told, or could not. */
export function onStored(listener: (stored: boolean) => void): void {
  stored = listener;
}

/** Why a request was refused. Every refusal of Caesura's has a code. One without a code is from something in between (a proxy, the
 * sign-in page of a network), and does not say what Caesura did. */
export async function errorOf(response: Response): Promise<ApiError> {
  let body: unknown;
  try {
    body = readJson(await response.text());
  } catch {
    body = null;
  }
  const given = body as { error?: Record<string, unknown>; detail?: unknown } | null;
  const error = given?.error ?? {};
  const message = typeof error.message === "string" ? error.message : typeof given?.detail === "string" ? given.detail : response.statusText;
  const code = typeof error.code === "string" ? error.code : (response.headers.get("X-Error-Code") ?? "");
  if (code === "") return new ApiError(0, "unreachable", response.statusText, {}, retryAfter(response));
  return new ApiError(response.status, code, message, error, retryAfter(response));
}

interface Sent {
  method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  body?: unknown;
  /** Work with the same key is done once. */
  key?: string;
  signal?: AbortSignal;
  /** A 401 is an answer here, not the end of the session. */
  door?: boolean;
  /** Sent to its end although the page is closed meanwhile. */
  last?: boolean;
}

/** Milliseconds after which a request without an answer counts as lost. */
const PATIENCE = 20_000;
/** Milliseconds after which a request is not sent again, and the longest wait before it is. */
const LONGEST = 30_000;
const PAUSE = 5000;

export async function request<T>(path: string, sent: Sent = {}): Promise<T> {
  const { method = "GET", body, key, signal, door = false, last = false } = sent;
  const headers: Record<string, string> = { Accept: "application/json" };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (method !== "GET" && forgery) headers["X-CSRF-Token"] = forgery;
  if (key) headers["Idempotency-Key"] = key;
  const patience = AbortSignal.timeout(PATIENCE);
  let response: Response;
  try {
    response = await fetch(ROOT + path, {
      method,
      headers,
      credentials: "same-origin",
      keepalive: last,
      signal: signal ? AbortSignal.any([signal, patience]) : patience,
      ...(body !== undefined ? { body: writeJson(body) } : {}),
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ApiError(0, "unreachable", error instanceof Error ? error.message : "");
  }
  learnClock(response);
  if (!response.ok) {
    const error = await errorOf(response);
    if (error.status === 401 && !door) sessionEnded(error);
    if (error.status === 403 && headers["X-CSRF-Token"] && !door) {
      // A request with a wrong token was not done.
      if ((await renew()) && headers["X-CSRF-Token"] !== forgery) return request(path, sent);
    }
    // It may still read what it has.
    if (method !== "GET" && error.code === "unavailable") stored(false);
    throw error;
  }
  const value = response.status === 204 ? undefined : await jsonOf(response, signal);
  heard();
  if (method !== "GET") stored(true);
  return value as T;
}

/** The body of a good response. Without one nobody knows what the server said. */
async function jsonOf(response: Response, signal: AbortSignal | undefined): Promise<unknown> {
  try {
    return readJson(await response.text());
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ApiError(0, "unreachable", error instanceof Error ? error.message : "");
  }
}

/** A key under which the server does a request once, however often it is sent. */
export function newKey(): string {
  return typeof crypto.randomUUID === "function" ? crypto.randomUUID() : [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Sends a request again, with the same key, while the server cannot be reached. It ends in any case: somebody waits for it. */
export async function insist<T>(path: string, sent: Sent & { key: string }, tries = 3): Promise<T> {
  const until = ticks() + LONGEST;
  for (let n = 1; ; n += 1) {
    try {
      return await request<T>(path, sent);
    } catch (error) {
      if (!(error instanceof ApiError && error.unreachable) || n >= tries) throw error;
      const wait = (error.retryAfter ?? n) * 1000;
      if (wait > PAUSE || ticks() + wait > until) throw error;
      await new Promise((done) => setTimeout(done, wait));
    }
  }
}
