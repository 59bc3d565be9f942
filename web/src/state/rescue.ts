// A conversation that is deleted: what the person wrote in it goes to the box of a new one.
import { rescue } from "./drafts";
import { useThread } from "./thread";

/** Milliseconds after which a tab takes what no tab has written itself. Of two tabs one should come first. */
const LATER = 500;

/** Takes what was written in this tab at once, and a moment later what only the browser keeps. Other tabs do the same: each moves its
 * own texts. Gives whether something was moved by now. */
export function rescueAll(id: string): boolean {
  setTimeout(
    () => {
      const { id: open, phase } = useThread.getState();
      if (rescue(id, false) && open === id && phase === "missing") useThread.setState({ moved: true });
    },
    LATER * (1 + Math.random()),
  );
  return rescue(id, true);
}
