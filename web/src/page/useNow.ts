import { useEffect, useState } from "react";

import { serverNow } from "../api/clock";

/** The time by the server's clock, again every second while it is wanted. */
export function useNow(wanted: boolean, every = 1000): number {
  const [now, setNow] = useState(serverNow);
  useEffect(() => {
    if (!wanted) return;
    setNow(serverNow());
    const timer = setInterval(() => setNow(serverNow()), every);
    return () => clearInterval(timer);
  }, [wanted, every]);
  return now;
}

/** `4:12`. */
export function minutes(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  const hours = Math.floor(seconds / 3600);
  const rest = `${String(Math.floor((seconds % 3600) / 60)).padStart(hours ? 2 : 1, "0")}:${String(seconds % 60).padStart(2, "0")}`;
  return hours ? `${hours}:${rest}` : rest;
}
