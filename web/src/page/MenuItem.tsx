import { useWords, type Key } from "../words/words";
import { Icon, type IconName } from "./Icon";

interface MenuItemProps {
  icon: IconName;
  text: Key;
  danger?: boolean;
  onChoose: () => void;
}

/** One thing to do, in a menu. */
export function MenuItem({ icon, text, danger = false, onChoose }: MenuItemProps) {
  const { say } = useWords();
  return (
    <button type="button" className={danger ? "item danger" : "item"} role="menuitem" onClick={onChoose}>
      <Icon name={icon} />
      <span>{say(text)}</span>
    </button>
  );
}
