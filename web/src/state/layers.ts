// What covers the conversation on a narrow screen, the drawer and a document, is a step of the browser's history there: Back closes
// it before it leaves the conversation.
import { useView } from "./view";

interface Step {
  /** How many layers lie over the page. */
  layers?: number;
}

const NARROW = "(max-width: 899px)";

/** Set while the history goes back because something was closed on the page. */
let returning = false;

const stepsNow = (): number => (history.state as Step | null)?.layers ?? 0;

function layersNow(): number {
  const { drawer, document } = useView.getState();
  return matchMedia(NARROW).matches ? Number(drawer) + Number(document !== null) : 0;
}

/** Makes the history follow the page. */
function settle(): void {
  if (returning) return;
  const [layers, steps] = [layersNow(), stepsNow()];
  if (layers > steps) history.pushState({ layers } satisfies Step, "", location.href);
  else if (layers < steps) {
    returning = true;
    history.go(layers - steps);
  }
}

/** Makes the page follow the history. */
function arrived(): void {
  if (returning) {
    returning = false;
    settle();
    return;
  }
  for (let layers = layersNow(); layers > stepsNow(); layers -= 1) {
    const top = useView.getState().drawer ? { drawer: false } : { document: null, shut: true };
    useView.setState(top);
  }
  // A step forward, or a reload: what lay over the page is gone.
  if (layersNow() < stepsNow()) history.replaceState({ layers: layersNow() } satisfies Step, "", location.href);
}

export function followLayers(): void {
  arrived();
  addEventListener("popstate", arrived);
  useView.subscribe((now, before) => {
    if (now.drawer !== before.drawer || now.document !== before.document) settle();
  });
}

/** Whether the newest step of the history only covers the page. A place that is opened from there takes its step. */
export function isCovered(): boolean {
  return stepsNow() > 0;
}
