// The versions of a document and their contents, loaded when they are needed.
import { useEffect, useRef, useState } from "react";

import type { ArtifactVersion } from "../../api/types";

/** So many contents are kept: a version never changes. */
const KEPT = 12;

export type Loaded<T> = { state: "loading"; value: T | null } | { state: "there"; value: T } | { state: "failed"; value: T | null };

/** The versions of a document. While they are loaded again the ones from before stay. */
export function useVersions(id: string, revision: number, load: (id: string) => Promise<readonly ArtifactVersion[]>): Loaded<readonly ArtifactVersion[]> {
  const [found, setFound] = useState<{ id: string; state: "there" | "failed"; value: readonly ArtifactVersion[] | null } | null>(null);
  useEffect(() => {
    let current = true;
    load(id).then(
      (value) => current && setFound({ id, state: "there", value }),
      () => current && setFound((last) => ({ id, state: "failed", value: last?.id === id ? last.value : null })),
    );
    return () => {
      current = false;
    };
  }, [id, revision, load]);
  return found?.id === id ? (found as Loaded<readonly ArtifactVersion[]>) : { state: "loading", value: null };
}

/** The content of a version; of version 0, an empty text. While another one loads, the last one stays. */
export function useContent(id: string, version: number, load: (id: string, version: number) => Promise<string>): Loaded<string> {
  const kept = useRef(new Map<string, string>());
  const [found, setFound] = useState<{ id: string; version: number; state: "there" | "failed"; value: string } | null>(null);
  useEffect(() => {
    let current = true;
    const name = `${version} ${id}`;
    const put = (state: "there" | "failed", value: string) => current && setFound({ id, version, state, value });
    const known = version === 0 ? "" : kept.current.get(name);
    if (known !== undefined) put("there", known);
    else
      load(id, version).then(
        (value) => {
          if (kept.current.size >= KEPT) kept.current.delete(kept.current.keys().next().value ?? "");
          kept.current.set(name, value);
          put("there", value);
        },
        () => put("failed", ""),
      );
    return () => {
      current = false;
    };
  }, [id, version, load]);
  if (found?.id === id && found.version === version) return { state: found.state, value: found.value };
  return { state: "loading", value: found?.id === id ? found.value : null };
}
