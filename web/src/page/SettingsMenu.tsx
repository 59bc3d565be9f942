import { signOut, useSession } from "../state/session";
import { setLanguage, setTheme, useSettings, type Theme } from "../state/settings";
import { hasUnsent } from "../state/unsent";
import { openConnect, openDialog, openDrawer } from "../state/view";
import { useWords, type Key } from "../words/words";
import { Icon } from "./Icon";
import { keyName } from "./keys";
import { Menu } from "./Menu";

const THEMES: [Theme, Key][] = [
  ["system", "themeSystem"],
  ["light", "themeLight"],
  ["dark", "themeDark"],
];

export function SettingsMenu({ onClose }: { onClose: () => void }) {
  /** Nobody loses a text, or the sessions of all other devices, by one click. */
  const leave = (everywhere: boolean): void => {
    onClose();
    if (everywhere || hasUnsent()) openDialog({ kind: "leave", everywhere });
    else void signOut();
  };
  const { say, language } = useWords();
  const theme = useSettings((state) => state.theme);
  const password = useSession((state) => state.options.auth === "password");
  return (
    <Menu onClose={onClose} className="settings" role="dialog" label={say("settings")}>
      <div className="group" role="group" aria-label={say("language")}>
        <h3 aria-hidden="true">{say("language")}</h3>
        <div className="seg">
          <button type="button" aria-pressed={language === "en"} lang="en" onClick={() => void setLanguage("en")}>
            English
          </button>
          <button type="button" aria-pressed={language === "zh"} lang="zh" onClick={() => void setLanguage("zh")}>
            中文
          </button>
        </div>
      </div>
      <div className="group" role="group" aria-label={say("theme")}>
        <h3 aria-hidden="true">{say("theme")}</h3>
        <div className="seg">
          {THEMES.map(([name, key]) => (
            <button key={name} type="button" aria-pressed={theme === name} onClick={() => setTheme(name)}>
              {say(key)}
            </button>
          ))}
        </div>
      </div>
      <hr />
      <button
        type="button"
        className="item"
        onClick={() => {
          onClose();
          openDrawer(false);
          openConnect(true);
        }}
      >
        <Icon name="plug" />
        <span>{say("connectModel")}</span>
      </button>
      <button
        type="button"
        className="item"
        onClick={() => {
          onClose();
          openDialog({ kind: "shortcuts" });
        }}
      >
        <Icon name="keys" />
        <span>{say("shortcuts")}</span>
        <span className="grow" />
        <kbd aria-hidden="true">{keyName("⌘", "/")}</kbd>
      </button>
      {password ? (
        <>
          <hr />
          <button type="button" className="item" onClick={() => leave(false)}>
            <Icon name="out" />
            <span>{say("signOut")}</span>
          </button>
          <button type="button" className="item" onClick={() => leave(true)}>
            <span className="state" />
            <span>{say("signOutEverywhere")}</span>
          </button>
        </>
      ) : null}
    </Menu>
  );
}
