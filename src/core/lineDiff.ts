/** What changed between two texts, line by line. */

export interface LineChange {
  readonly kind: "same" | "added" | "removed";
  readonly text: string;
}

/**
 * The fewest lines that have to go and to come to make one text the other: what stays is a longest common subsequence of
 * lines. Of the changes at one place, what goes stands before what comes. Time and memory grow with the product of the lines
 * between the first and the last difference.
 */
export function lineDiff(before: string, after: string): readonly LineChange[] {
  const [a, b] = [before.split("\n"), after.split("\n")];
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head++;
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head && a.at(-1 - tail) === b.at(-1 - tail)) tail++;
  const same = (text: string): LineChange => ({ kind: "same", text });
  return [
    ...a.slice(0, head).map(same),
    ...between(a.slice(head, a.length - tail), b.slice(head, b.length - tail)),
    ...a.slice(a.length - tail).map(same),
  ];
}

function between(a: readonly string[], b: readonly string[]): LineChange[] {
  const wide = b.length + 1;
  // longest common subsequence of a from i on and b from j on, at i * wide + j
  const longest = new Int32Array((a.length + 1) * wide);
  const at = (i: number, j: number): number => longest[i * wide + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      longest[i * wide + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const changes: LineChange[] = [];
  for (let i = 0, j = 0; i < a.length || j < b.length; ) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      changes.push({ kind: "same", text: a[i++] ?? "" });
      j++;
    } else if (i < a.length && at(i + 1, j) >= at(i, j + 1))
      changes.push({ kind: "removed", text: a[i++] ?? "" });
    else if (j < b.length) changes.push({ kind: "added", text: b[j++] ?? "" });
    else changes.push({ kind: "removed", text: a[i++] ?? "" });
  }
  return changes;
}

/** The changes with some lines around them, as diffs are usually written. */
export function sayDiff(changes: readonly LineChange[], around = 2): readonly string[] {
  const near = changes.map((_, i) =>
    changes.slice(Math.max(0, i - around), i + around + 1).some(({ kind }) => kind !== "same"),
  );
  const mark = { same: "  ", added: "+ ", removed: "- " } as const;
  return changes.flatMap(({ kind, text }, i) => {
    if (near[i]) return [`${mark[kind]}${text}`.trimEnd()];
    return i > 0 && near[i - 1] ? ["  …"] : [];
  });
}
