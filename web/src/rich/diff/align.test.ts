import { describe, expect, test } from "vitest";

import { align } from "./align";

function lcs(a: string, b: string): number {
  const table = Array.from({ length: a.length + 1 }, () => new Array<number>(b.length + 1).fill(0));
  for (let i = 1; i <= a.length; i += 1)
    for (let j = 1; j <= b.length; j += 1)
      table[i]![j] = a[i - 1] === b[j - 1] ? table[i - 1]![j - 1]! + 1 : Math.max(table[i - 1]![j]!, table[i]![j - 1]!);
  return table[a.length]![b.length]!;
}

describe("align", () => {
  test("finds as many equal items as there can be, in order", () => {
    let seed = 7;
    const next = (below: number) => (seed = (seed * 1103515245 + 12345) % 2147483648) % below;
    for (let round = 0; round < 300; round += 1) {
      const word = () => Array.from({ length: next(14) }, () => "abcd"[next(4)]).join("");
      const [a, b] = [word(), word()];
      const matches = align([...a], [...b], 1000);
      expect(matches).not.toBeNull();
      expect(matches!.every(([x, y]) => a[x] === b[y])).toBe(true);
      expect(matches!.every(([x, y], i) => i === 0 || (x > matches![i - 1]![0] && y > matches![i - 1]![1]))).toBe(true);
      expect(matches).toHaveLength(lcs(a, b));
    }
  });

  test("gives up when too much differs", () => {
    const one = Array.from({ length: 5000 }, (_, i) => `a${i}`);
    const other = Array.from({ length: 5000 }, (_, i) => `b${i}`);
    expect(align(one, other, 500)).toBeNull();
  });

  test("takes long equal beginnings and ends for granted", () => {
    const long = Array.from({ length: 100_000 }, (_, i) => i);
    const other = [...long.slice(0, 50_000), -1, ...long.slice(50_000)];
    expect(align(long, other, 10)).toHaveLength(100_000);
  });
});
