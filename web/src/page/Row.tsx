import { memo, Suspense, useState } from "react";

import type { Conversation } from "../api/types";
import { shownLine } from "../log/shown";
import { useConnection } from "../state/connection";
import { useList } from "../state/list";
import { pathOf } from "../state/route";
import { renameRow, useView } from "../state/view";
import { useWords } from "../words/words";
import { Bars, Icon } from "./Icon";
import { ConversationMenu, Rename } from "./lazy";
import { visit } from "./Sidebar";

interface RowProps {
  row: Conversation;
  current: boolean;
  /** The one row to which Tab leads. The arrows lead to the others. */
  stop: boolean;
  onStop: (id: string) => void;
}

export const Row = memo(function Row({ row, current, stop, onStop }: RowProps) {
  const { say } = useWords();
  const [menu, setMenu] = useState<{ left: number; top: number } | null>(null);
  const renaming = useView((state) => state.renaming === row.id);
  const fresh = useList((state) => state.titled === row.id);
  const title = row.title ? shownLine(row.title) : say("untitled");
  const link = (
    <a href={pathOf(row.id)} data-row={row.id} tabIndex={stop ? 0 : -1} onFocus={() => onStop(row.id)} onClick={visit} onDoubleClick={() => renameRow(row.id)} title={title}>
      <Dot row={row} current={current} />
      <span key={title} className={fresh ? "t new-title" : "t"}>
        {title}
      </span>
    </a>
  );
  return (
    <div className="row conv" aria-current={current ? "page" : undefined}>
      {renaming ? (
        <Suspense fallback={link}>
          <Rename row={row} />
        </Suspense>
      ) : (
        link
      )}
      <button
        type="button"
        className="icon more"
        tabIndex={-1}
        aria-label={`${say("more")}: ${title}`}
        aria-haspopup="menu"
        aria-expanded={menu !== null}
        onClick={(event) => {
          const box = event.currentTarget.getBoundingClientRect();
          const left = Math.min(box.left, innerWidth - 160);
          setMenu(menu ? null : { left, top: box.bottom + 84 > innerHeight ? box.top - 84 : box.bottom + 2 });
        }}
      >
        <Icon name="dots" />
      </button>
      <Suspense>{menu ? <ConversationMenu id={row.id} className="small" style={{ position: "fixed", ...menu }} onClose={() => setMenu(null)} /> : null}</Suspense>
    </div>
  );
});

function Dot({ row, current }: { row: Conversation; current: boolean }) {
  const { say } = useWords();
  const lost = useConnection((state) => current && state.lost !== null);
  if (row.status === "interrupted")
    return (
      <span className="dot waits" role="img" aria-label={say("statusWaits")}>
        <Bars />
      </span>
    );
  if (row.status === "running") return <span className={lost ? "dot lost" : "dot running"} role="img" aria-label={say("statusRunning")} />;
  return <span className="dot" />;
}
