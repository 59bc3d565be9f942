// How the elements of markdown are drawn.
import { createContext, lazy, Suspense, useContext, type ComponentProps, type ReactNode } from "react";
import type { Components, ExtraProps } from "react-markdown";

import { shownLine } from "../../log/shown";
import { bare } from "../../page/lazy";
import { useWords } from "../../words/words";
import { Code } from "../code/Code";
import { LONGEST } from "../math/weight";
import { Drawing } from "./Drawing";
import { safeAddress, trueTarget } from "./safety";
import { Cell, Head, Table, wordsOf } from "./Table";

type Props<Tag extends keyof React.JSX.IntrinsicElements> = ComponentProps<Tag> & ExtraProps;

function Link({ href, children, node, ...rest }: Props<"a">) {
  // A footnote and its way back. No other link leads to a place of the page, which could be a field.
  if (href?.startsWith("#") && isFootnote(node)) return <a href={href} id={rest.id} aria-describedby={rest["aria-describedby"]} aria-label={rest["aria-label"]}>{children}</a>;
  const address = safeAddress(href);
  if (address === null) return <span>{children}</span>;
  return (
    <Leading address={address} words={node ? wordsOf(node) : ""}>
      {children}
    </Leading>
  );
}

/** Whether this is part of a link: a link has no other inside. */
const InLink = createContext(false);

/** A link, and where it really leads if its words say something else. Characters that turn the direction end with the words. */
function Leading({ address, words, children }: { address: string; words: string; children: ReactNode }) {
  const target = trueTarget(words, address);
  return (
    <>
      <InLink value={true}>
        <a href={address} target="_blank" rel="noopener noreferrer">
          <bdi>{children}</bdi>
        </a>
      </InLink>
      {target === null ? null : (
        <small className="quiet">
          {" "}
          <bdi dir="ltr">({shownLine(target)})</bdi>
        </small>
      )}
    </>
  );
}

function isFootnote(node: ExtraProps["node"]): boolean {
  return node?.properties.dataFootnoteRef !== undefined || node?.properties.dataFootnoteBackref !== undefined;
}

/** A picture is a link: loading it would tell another server who reads this, and when. */
function Picture({ src, alt }: Props<"img">) {
  const { say } = useWords();
  const address = safeAddress(typeof src === "string" ? src : undefined);
  const text = say("image", alt?.trim() ? alt : (address ?? ""));
  if (useContext(InLink) || address === null) return <span>{text}</span>;
  return (
    <Leading address={address} words={alt ?? ""}>
      {text}
    </Leading>
  );
}

function Box({ checked }: Props<"input">) {
  const { say } = useWords();
  return <input type="checkbox" className="task" checked={checked ?? false} disabled readOnly aria-label={say(checked ? "done" : "notDone")} />;
}

const Formula = lazy(bare(() => import("../math/Formula")));

/** Code among words, or a formula. */
function Inline({ node, children }: Props<"code">) {
  const names = node?.properties.className;
  if (!node || !Array.isArray(names) || !names.includes("math")) return <code>{children}</code>;
  const tex = wordsOf(node);
  return (
    <Suspense fallback={<code>{tex}</code>}>
      <Formula tex={tex} display={names.includes("display")} />
    </Suspense>
  );
}

function Block({ node }: Props<"pre">) {
  const code = node?.children.find((child) => child.type === "element");
  const [, language] = /language-(\S+)/.exec(String(code?.properties.className ?? "")) ?? [];
  const meta = (code?.data as { meta?: string | null } | undefined)?.meta;
  const name = meta ? (/^(?:title|file|filename)=["']?([^"'\s]{1,100})/.exec(meta)?.[1] ?? /^[\w.@/-]{1,100}\.\w{1,8}$/.exec(meta.trim())?.[0]) : undefined;
  const text = code ? wordsOf(code).replace(/\n$/, "") : "";
  if (language === "mermaid") return <Drawing source={text} />;
  if (language === "math" && text.length <= LONGEST)
    return (
      <Suspense fallback={<Code text={text} />}>
        <Formula tex={text} display />
      </Suspense>
    );
  return <Code text={text} {...(language === undefined ? {} : { language })} {...(name === undefined ? {} : { name })} />;
}

/** The page has the first heading: those of a text begin one step below it. */
export const ELEMENTS: Components = {
  a: Link,
  img: Picture,
  table: Table,
  th: Head,
  td: Cell,
  input: Box,
  code: Inline,
  pre: Block,
  h1: "h2",
  h2: "h3",
  h3: "h4",
  h4: "h5",
  h5: "h6",
};
