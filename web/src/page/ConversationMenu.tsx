import type { CSSProperties } from "react";

import { openDialog, renameRow } from "../state/view";
import { useWords } from "../words/words";
import { Menu } from "./Menu";
import { MenuItem } from "./MenuItem";

interface ConversationMenuProps {
  id: string;
  className: string;
  style?: CSSProperties;
  /** Also offers what is only of interest in the open conversation. */
  open?: boolean;
  /** Brings the row in sight whose title will be edited. */
  onRename?: () => void;
  onClose: () => void;
}

/** What can be done with a conversation. */
export function ConversationMenu({ id, className, style, open = false, onRename, onClose }: ConversationMenuProps) {
  const { say } = useWords();
  const choose = (act: () => void) => () => {
    onClose();
    act();
  };
  return (
    <Menu onClose={onClose} className={className} {...(style ? { style } : {})} label={say("more")}>
      <MenuItem
        icon="pen"
        text="rename"
        onChoose={choose(() => {
          onRename?.();
          renameRow(id);
        })}
      />
      {open ? <MenuItem icon="check" text="grants" onChoose={choose(() => openDialog({ kind: "grants", id }))} /> : null}
      <MenuItem icon="bin" text="delete" danger onChoose={choose(() => openDialog({ kind: "delete", id }))} />
    </Menu>
  );
}
