// Keys: ⌘ on Apple's machines, Ctrl elsewhere.

export const APPLE = /Mac|iPhone|iPad/.test(navigator.platform);

/** `⌘⇧O` on Apple's machines, `Ctrl+Shift+O` elsewhere. */
export function keyName(...keys: string[]): string {
  if (APPLE) return keys.join("");
  const names: Record<string, string> = { "⌘": "Ctrl", "⇧": "Shift" };
  return keys.map((key) => names[key] ?? key).join("+");
}

interface Pressed {
  metaKey: boolean;
  ctrlKey: boolean;
  altKey: boolean;
}

export function command(event: Pressed): boolean {
  return (APPLE ? event.metaKey : event.ctrlKey) && !event.altKey;
}

interface Down {
  key: string;
  repeat: boolean;
  target: EventTarget | null;
}

/** Whether Enter is held down on a control: the browser would press it again and again. In a text it makes lines. */
export function isHeld(event: Down): boolean {
  return event.repeat && event.key === "Enter" && !isWriting(event.target);
}

/** Whether keys without ⌘ belong to the element: the person writes there. */
export function isWriting(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || target.matches("textarea, select, input:not([type=radio]):not([type=checkbox])"));
}
