// What is open on the page itself: the drawer, a dialog, a document, a message that is edited.
import { create } from "zustand";

interface View {
  drawer: boolean;
  dialog: { kind: "delete"; id: string } | { kind: "shortcuts" } | { kind: "grants"; id: string } | { kind: "leave"; everywhere: boolean } | null;
  /** The document that is shown beside the conversation. */
  document: string | null;
  /** The person closed the documents: none opens by itself until the next turn. */
  shut: boolean;
  /** The turn whose message is edited. */
  editing: string | null;
  /** The row whose title is edited. */
  renaming: string | null;
  connect: boolean;
  /** Questions that were put aside on a phone to look at the conversation. */
  aside: ReadonlySet<string>;
}

export const useView = create<View>()(() => ({ drawer: false, dialog: null, document: null, shut: false, editing: null, renaming: null, connect: false, aside: new Set() }));

export const openDrawer = (drawer: boolean): void => useView.setState({ drawer });
export const openDialog = (dialog: View["dialog"]): void => useView.setState({ dialog });
export const openDocument = (document: string | null): void => useView.setState({ document, shut: document === null });
/** A new turn has begun: its documents may open. */
export const letOpen = (): void => useView.setState((state) => (state.shut ? { shut: false } : state));
/** Shows a document that nobody asked for, if nothing else is shown and the person does not mind. */
export const offerDocument = (document: string): void => useView.setState((state) => (state.document === null && !state.shut ? { document } : state));
export const editTurn = (editing: string | null): void => useView.setState({ editing });
export const renameRow = (renaming: string | null): void => useView.setState({ renaming });
export const openConnect = (connect: boolean): void => useView.setState({ connect });

export function putAside(ids: readonly string[], aside: boolean): void {
  useView.setState((state) => {
    const next = new Set(state.aside);
    for (const id of ids) {
      if (aside) next.add(id);
      else next.delete(id);
    }
    return { aside: next };
  });
}

/** Another place was opened. */
export function moved(): void {
  useView.setState({ drawer: false, document: null, shut: false, editing: null, renaming: null, connect: false });
}
