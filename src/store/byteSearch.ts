/** Whether any of many texts stands anywhere in a file, in UTF-8. */
import { open } from "node:fs/promises";

const block = 1 << 20;
/** Shorter texts stand everywhere by chance. */
export const shortest = 8;

/**
 * Reads the file once, whatever the number of texts.
 * @returns how often each text that was found stands there. Texts below 8 bytes are not looked for; a file that is not there holds nothing.
 */
export async function searchFile(file: string, texts: Iterable<string>): Promise<Map<string, number>> {
  const found = new Map<string, number>();
  /** By their first four bytes. */
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

  const handle = await open(file, "r").catch((e: NodeJS.ErrnoException) => {
    if (e.code === "ENOENT") return undefined;
    throw e;
  });
  if (handle === undefined) return found;
  try {
    // what may begin at the end of a block is looked for together with the next one
    const held = Buffer.alloc(block + longest);
    let kept = 0;
    for (;;) {
      const { bytesRead } = await handle.read(held, kept, block);
      const filled = kept + bytesRead;
      const until = bytesRead === 0 ? filled - shortest + 1 : filled - longest + 1;
      let i = 0;
      for (; i < until; i++) {
        if (begins[held[i]! | (held[i + 1]! << 8)] === 0) continue;
        for (const { text, bytes } of needles.get(held.readUInt32LE(i)) ?? []) {
          if (i + bytes.length > filled || held.compare(bytes, 0, bytes.length, i, i + bytes.length) !== 0)
            continue;
          found.set(text, (found.get(text) ?? 0) + 1);
        }
      }
      if (bytesRead === 0) return found;
      held.copy(held, 0, i, filled);
      kept = filled - i;
    }
  } finally {
    await handle.close();
  }
}
