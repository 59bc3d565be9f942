import { useEffect, useId, useRef, type KeyboardEvent, type ReactNode } from "react";

interface DialogProps {
  title: ReactNode;
  children: ReactNode;
  /** Left out: the dialog cannot be closed without an answer. */
  onClose?: () => void;
  alert?: boolean;
  className?: string;
  onSubmit?: () => void;
}

const FOCUSABLE = "button:not([disabled]), a[href], input:not([disabled]), textarea:not([disabled]), select:not([disabled])";

/** A question over the whole page. The focus stays inside, and goes back afterwards. */
export function Dialog({ title, children, onClose, alert = false, className = "", onSubmit }: DialogProps) {
  const box = useRef<HTMLDivElement>(null);
  const heading = useId();

  useEffect(() => {
    const opener = document.activeElement instanceof HTMLElement ? document.activeElement : null;
    const dialog = box.current;
    (dialog?.querySelector<HTMLElement>("[data-autofocus]") ?? dialog?.querySelector<HTMLElement>(FOCUSABLE))?.focus();
    return () => opener?.focus({ preventScroll: true });
  }, []);

  const pressed = (event: KeyboardEvent): void => {
    event.stopPropagation();
    if (event.key === "Escape" && onClose) {
      event.preventDefault();
      onClose();
    }
    if (event.key !== "Tab") return;
    const items = [...(box.current?.querySelectorAll<HTMLElement>(FOCUSABLE) ?? [])];
    const edge = event.shiftKey ? items[0] : items.at(-1);
    if (document.activeElement === edge) {
      event.preventDefault();
      (event.shiftKey ? items.at(-1) : items[0])?.focus();
    }
  };

  return (
    // A click beside the dialog closes it; the keyboard has Esc.
    // oxlint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/no-static-element-interactions
    <div className="scrim" onClick={(event) => event.target === event.currentTarget && onClose?.()}>
      <div ref={box} className={`dialog ${className}`} role={alert ? "alertdialog" : "dialog"} aria-modal="true" aria-labelledby={heading} tabIndex={-1} onKeyDown={pressed}>
        <form
          onSubmit={(event) => {
            event.preventDefault();
            onSubmit?.();
          }}
        >
          <h2 id={heading}>{title}</h2>
          {children}
        </form>
      </div>
    </div>
  );
}
