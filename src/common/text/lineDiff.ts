/** Line-by-line diff of two texts. */

export interface LineChange {
  readonly kind: "same" | "added" | "removed";
  readonly text: string;
}

/**
 * A minimal line diff: unchanged lines are a longest common subsequence. At each place, removed lines come before added
 * ones. Time and memory grow with the product of the numbers of lines between the first and the last difference; where it
 * exceeds the remaining budget, all of these lines are reported as removed and added.
 * @param spend budget of line pairs to compare, shared by several texts and reduced by each call. Default: four million.
 */
export function lineDiff(
  before: string,
  after: string,
  spend: PairsLeft = { pairs: mostPairs },
): readonly LineChange[] {
  const [a, b] = [before.split("\n"), after.split("\n")];
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head++;
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head && a.at(-1 - tail) === b.at(-1 - tail)) tail++;
  const same = (text: string): LineChange => ({ kind: "same", text });
  return [
    ...a.slice(0, head).map(same),
    ...between(a.slice(head, a.length - tail), b.slice(head, b.length - tail), spend),
    ...a.slice(a.length - tail).map(same),
  ];
}

export interface PairsLeft {
  pairs: number;
}
/** Default budget of line pairs: 16 MB, and some hundredths of a second. */
export const mostPairs = 4_000_000;

function between(a: readonly string[], b: readonly string[], spend: PairsLeft): LineChange[] {
  const pairs = a.length * b.length;
  if (pairs <= spend.pairs) spend.pairs -= pairs;
  else {
    return [
      ...a.map((text) => ({ kind: "removed" as const, text })),
      ...b.map((text) => ({ kind: "added" as const, text })),
    ];
  }
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

/** The changes with some context lines around them, and the number of lines left out in between. */
export function foldedDiff(
  changes: readonly LineChange[],
  around = 2,
): readonly (LineChange | { readonly kind: "left out"; readonly lines: number })[] {
  const near = new Uint8Array(changes.length);
  changes.forEach(({ kind }, i) => {
    if (kind !== "same") near.fill(1, Math.max(0, i - around), i + around + 1);
  });
  const folded: (LineChange | { readonly kind: "left out"; readonly lines: number })[] = [];
  changes.forEach((change, i) => {
    const last = folded.at(-1);
    if (near[i]) folded.push(change);
    else if (last?.kind === "left out") folded[folded.length - 1] = { ...last, lines: last.lines + 1 };
    else folded.push({ kind: "left out", lines: 1 });
  });
  return folded;
}

/** {@link foldedDiff} as text lines with "+", "-" or blanks in front. */
export function sayDiff(changes: readonly LineChange[], around = 2): readonly string[] {
  const mark = { same: "  ", added: "+ ", removed: "- " } as const;
  return foldedDiff(changes, around).flatMap((change, i) => {
    if (change.kind !== "left out") return [`${mark[change.kind]}${change.text}`.trimEnd()];
    return i > 0 ? ["  …"] : [];
  });
}
