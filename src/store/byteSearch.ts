/** Searches bytes for any of many texts in UTF-8. */

/** Shorter texts occur by chance. */
export const shortest = 8;

/**
 * Reads the bytes once, for any number of texts.
 * @returns the number of occurrences of each text found. Texts below 8 bytes are not searched.
 */
export async function searchBytes(
  blocks: AsyncIterable<Uint8Array>,
  texts: Iterable<string>,
): Promise<Map<string, number>> {
  const found = new Map<string, number>();
  /** Texts by their first four bytes. */
  const needles = new Map<number, { readonly text: string; readonly bytes: Buffer }[]>();
  const begins = new Uint8Array(1 << 16);
  let longest = 0;
  for (const text of new Set(texts)) {
    const bytes = Buffer.from(text, "utf8");
    if (bytes.length < shortest) continue;
    longest = Math.max(longest, bytes.length);
    begins[bytes.readUInt16LE(0)] = 1;
    const start = bytes.readUInt32LE(0);
    const same = needles.get(start);
    if (same) same.push({ text, bytes });
    else needles.set(start, [{ text, bytes }]);
  }
  if (longest === 0) return found;

  /** End of the last block, which may hold the beginning of a text; searched again with the next block. */
  let rest = Buffer.alloc(0);
  /** Searches the positions below `until`. */
  function look(held: Buffer, until: number): void {
    for (let i = 0; i < until; i++) {
      if (begins[held[i]! | (held[i + 1]! << 8)] === 0) continue;
      for (const { text, bytes } of needles.get(held.readUInt32LE(i)) ?? []) {
        if (i + bytes.length > held.length || bytes.compare(held, i, i + bytes.length) !== 0) continue;
        found.set(text, (found.get(text) ?? 0) + 1);
      }
    }
  }
  for await (const part of blocks) {
    const held = Buffer.concat([rest, part]);
    const until = Math.max(0, held.length - longest + 1);
    look(held, until);
    rest = held.subarray(until);
  }
  look(rest, rest.length - shortest + 1);
  return found;
}
