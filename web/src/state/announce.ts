// What is told to people who do not see the page. Tokens never are.
import { create } from "zustand";

export const useAnnouncement = create<{ text: string }>()(() => ({ text: "" }));

export function announce(text: string): void {
  // The same words twice are only read again if they differ.
  const same = useAnnouncement.getState().text === text;
  useAnnouncement.setState({ text: same ? text + "\u00a0" : text });
}
