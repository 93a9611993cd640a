/** Parts of a text between an opening and a closing mark. */

/** The text between the marks, and the text with them. */
export interface Block {
  readonly open: RegExpExecArray;
  readonly inner: string;
  readonly whole: string;
}

/**
 * Splits a text into its blocks, each from an opening mark to the next closing mark of its kind, and the rest. Runs in one
 * pass, however many opening marks are unclosed.
 */
export function withoutBlocks(text: string, opens: RegExp, endOf: (open: string) => string) {
  const blocks: Block[] = [];
  /** Position of the last closing mark found, by kind. */
  const ends = new Map<string, number>();
  let rest = "";
  let at = 0;
  for (const open of text.matchAll(opens)) {
    if (open.index < at) continue;
    const end = endOf(open[0]);
    const from = open.index + open[0].length;
    const known = ends.get(end) ?? 0;
    const to = known === -1 || known >= from ? known : text.indexOf(end, from);
    ends.set(end, to);
    if (to < 0) continue;
    rest += text.slice(at, open.index);
    at = to + end.length;
    blocks.push({ open, inner: text.slice(from, to), whole: text.slice(open.index, at) });
  }
  return { rest: rest + text.slice(at), blocks };
}
