// Which items of two lists stay, by the shortest edit (Myers). The work is bounded.

/** Positions of an item that is in both lists. */
export type Match = readonly [before: number, after: number];

/** `null` if more than `most` items differ: then it would take too long. */
export function align<T>(before: readonly T[], after: readonly T[], most: number): Match[] | null {
  const shortest = Math.min(before.length, after.length);
  let head = 0;
  while (head < shortest && before[head] === after[head]) head += 1;
  let tail = 0;
  while (tail < shortest - head && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail += 1;
  const inner = walk(before.slice(head, before.length - tail), after.slice(head, after.length - tail), most);
  if (inner === null) return null;
  const matches: Match[] = [];
  for (let i = 0; i < head; i += 1) matches.push([i, i]);
  for (const [b, a] of inner) matches.push([b + head, a + head]);
  for (let i = tail; i > 0; i -= 1) matches.push([before.length - i, after.length - i]);
  return matches;
}

function walk<T>(before: readonly T[], after: readonly T[], most: number): Match[] | null {
  const n = before.length;
  const m = after.length;
  if (n === 0 || m === 0) return [];
  const limit = Math.min(n + m, most);
  const size = 2 * limit + 3;
  const middle = limit + 1;
  let reach = new Int32Array(size);
  const trace: Int32Array[] = [];
  for (let d = 0; d <= limit; d += 1) {
    // Only the diagonals that this step can read are kept.
    trace.push(reach.slice(middle - d - 1, middle + d + 2));
    const next = reach.slice();
    for (let k = -d; k <= d; k += 2) {
      const down = k === -d || (k !== d && at(reach, middle + k - 1) < at(reach, middle + k + 1));
      let x = down ? at(reach, middle + k + 1) : at(reach, middle + k - 1) + 1;
      let y = x - k;
      while (x < n && y < m && before[x] === after[y]) {
        x += 1;
        y += 1;
      }
      next[middle + k] = x;
      if (x >= n && y >= m) return back(trace, n, m);
    }
    reach = next;
  }
  return null;
}

function back(trace: readonly Int32Array[], n: number, m: number): Match[] {
  const matches: Match[] = [];
  let x = n;
  let y = m;
  for (let d = trace.length - 1; d >= 0; d -= 1) {
    const reach = trace[d] as Int32Array;
    const middle = d + 1;
    const k = x - y;
    const down = k === -d || (k !== d && at(reach, middle + k - 1) < at(reach, middle + k + 1));
    const from = down ? at(reach, middle + k + 1) : at(reach, middle + k - 1);
    const fromY = from - (down ? k + 1 : k - 1);
    const startX = d === 0 ? 0 : down ? from : from + 1;
    while (x > startX && y > 0 && x > 0) {
      x -= 1;
      y -= 1;
      matches.push([x, y]);
    }
    x = from;
    y = fromY;
  }
  return matches.reverse();
}

function at(values: Int32Array, index: number): number {
  return values[index] ?? 0;
}
