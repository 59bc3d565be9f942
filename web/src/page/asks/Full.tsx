import { useMemo } from "react";

import { json } from "../tools";
import { Box } from "./Box";

/** All of a value, as JSON that must be read to its end. */
export function Full({ value }: { value: unknown }) {
  const text = useMemo(() => json(value), [value]);
  return (
    <Box
      text={text}
      draw={({ className, ...box }, content) => (
        <pre className={`full ${className}`} {...box}>
          {content}
        </pre>
      )}
    />
  );
}
