import { useEffect, useState } from "react";

/** Milliseconds after which a browser that has told of no paint is not waited for. */
const PATIENCE = 3000;

let first: Promise<void> | undefined;

/** Ends when something of the page was painted: what the first paint does not need is fetched after it. */
export function painted(): Promise<void> {
  first ??= new Promise((resolve) => {
    if (document.hidden || !globalThis.PerformanceObserver?.supportedEntryTypes?.includes("paint")) {
      resolve();
      return;
    }
    const done = (): void => {
      clearTimeout(timer);
      watcher.disconnect();
      document.removeEventListener("visibilitychange", done);
      resolve();
    };
    const watcher = new PerformanceObserver((list) => {
      if (list.getEntriesByName("first-contentful-paint").length > 0) done();
    });
    const timer = setTimeout(done, PATIENCE);
    // A page that nobody sees is not painted.
    document.addEventListener("visibilitychange", done);
    watcher.observe({ type: "paint", buffered: true });
  });
  return first;
}

export function usePainted(): boolean {
  const [is, setIs] = useState(false);
  useEffect(() => {
    let current = true;
    void painted().then(() => {
      if (current) setIs(true);
    });
    return () => {
      current = false;
    };
  }, []);
  return is;
}
