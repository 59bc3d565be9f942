import { useEffect, useLayoutEffect, useRef, type CSSProperties, type KeyboardEvent, type ReactNode } from "react";

interface MenuProps {
  onClose: () => void;
  children: ReactNode;
  className?: string;
  role?: "menu" | "listbox" | "dialog";
  label?: string;
  style?: CSSProperties;
  id?: string;
}

const ITEMS = "[role=menuitem]:not([disabled]), [role=option]:not([disabled]), .seg button, a[href], .group button";

/** Something small over the page: closes with Esc or a click elsewhere, and gives the focus back. */
export function Menu({ onClose, children, className = "", role = "menu", label, style, id }: MenuProps) {
  const box = useRef<HTMLDivElement>(null);
  const close = useRef(onClose);
  useLayoutEffect(() => {
    close.current = onClose;
  });

  useEffect(() => {
    const opener = document.activeElement instanceof HTMLElement ? document.activeElement : null;
    const menu = box.current;
    (menu?.querySelector<HTMLElement>("[aria-selected=true], [autofocus]") ?? menu?.querySelector<HTMLElement>(ITEMS) ?? menu)?.focus({ preventScroll: true });
    const outside = (event: PointerEvent): void => {
      if (event.target instanceof Node && !menu?.contains(event.target) && !opener?.contains(event.target)) close.current();
    };
    document.addEventListener("pointerdown", outside, true);
    return () => {
      document.removeEventListener("pointerdown", outside, true);
      if (menu?.contains(document.activeElement) || document.activeElement === document.body) opener?.focus({ preventScroll: true });
    };
  }, []);

  const pressed = (event: KeyboardEvent): void => {
    if (event.key === "Escape") {
      event.stopPropagation();
      event.preventDefault();
      onClose();
    } else if (event.key === "Tab" && role !== "dialog") {
      onClose();
    } else if (["ArrowDown", "ArrowUp", "Home", "End"].includes(event.key)) {
      event.preventDefault();
      move(box.current, event.key);
    }
  };

  return (
    <div ref={box} id={id} className={`menu ${className}`} role={role} aria-label={label} tabIndex={-1} onKeyDown={pressed} style={style}>
      {children}
    </div>
  );
}

function move(menu: HTMLElement | null, key: string): void {
  const items = [...(menu?.querySelectorAll<HTMLElement>(ITEMS) ?? [])];
  if (items.length === 0) return;
  const at = items.indexOf(document.activeElement as HTMLElement);
  const next = key === "Home" ? 0 : key === "End" ? items.length - 1 : (at + (key === "ArrowDown" ? 1 : items.length - 1)) % items.length;
  items[at < 0 && key === "ArrowUp" ? items.length - 1 : next]?.focus();
}
