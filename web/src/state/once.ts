// Requests that begin work and have no text of the person: a second click does nothing, and one after a lost response goes out
// under the same key.
import { mayBeDone, newKey } from "../api/client";

/** The keys of requests that may have been done although no response came. */
const tried = new Map<string, string>();
const underway = new Set<string>();
const MOST = 100;

/** Does the work under a key of its own. Null: the same work is under way already. `name` is another one as soon as the page
 * has seen what the work led to. */
export async function once<T>(name: string, work: (key: string) => Promise<T>): Promise<T | null> {
  if (underway.has(name)) return null;
  const key = tried.get(name) ?? newKey();
  underway.add(name);
  try {
    const done = await work(key);
    tried.delete(name);
    return done;
  } catch (error) {
    if (mayBeDone(error)) remember(name, key);
    else tried.delete(name);
    throw error;
  } finally {
    underway.delete(name);
  }
}

function remember(name: string, key: string): void {
  tried.set(name, key);
  const [oldest] = tried.keys();
  if (tried.size > MOST && oldest !== undefined) tried.delete(oldest);
}
