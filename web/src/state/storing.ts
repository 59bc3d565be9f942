// Whether the server stores what it is told. The keep line tells if it does not.
import { onStored } from "../api/client";
import { useConnection } from "./connection";

/** Milliseconds after which nobody knows whether the server still cannot store. A page that has something to tell tries every 5 seconds. */
const LATELY = 15_000;

export function followStoring(): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const note = (stored: boolean): void => {
    clearTimeout(timer);
    if (!stored) timer = setTimeout(() => note(true), LATELY);
    if (stored === useConnection.getState().full) useConnection.setState({ full: !stored });
  };
  onStored(note);
  return () => note(true);
}
