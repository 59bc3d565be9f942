import { useEffect, useState } from "react";

import { turns, type Turns } from "./lazy";
import { painted } from "./painted";

/** Milliseconds after which a part that could not be loaded is tried again. */
const AGAIN = 3000;

let loaded: Turns | null = null;

/** What draws turns; null until it is loaded, which the first paint does not wait for. */
export function useTurns(): Turns | null {
  const [found, setFound] = useState(loaded);
  const [tries, setTries] = useState(0);
  useEffect(() => {
    if (found) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let current = true;
    painted().then(turns).then(
      (module) => {
        loaded = module;
        if (current) setFound(module);
      },
      () => {
        if (current) timer = setTimeout(() => setTries(tries + 1), AGAIN);
      },
    );
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [found, tries]);
  return found;
}
