/** Parts of a text between a beginning and an end. */

/** What stands between marks, and all with them. */
export interface Block {
  readonly open: RegExpExecArray;
  readonly inner: string;
  readonly whole: string;
}

/**
 * The text without its blocks, and these: from a beginning to the next end of its kind. However many beginnings have no end,
 * the text is read once.
 */
export function withoutBlocks(text: string, opens: RegExp, endOf: (open: string) => string) {
  const blocks: Block[] = [];
  /** Where the next end of each kind was found last. */
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
