/** The texts of token ids, from the tokenizer in a run's folder. */
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { recent } from "../store/recent.ts";

/** The text of one token id. */
export type Spell = (id: number) => string;

/** The tokenizer in a run's folder, if there is one: pages can then show per-token credit on the text. */
export async function spellingOf(folder: string): Promise<Spell | undefined> {
  const file = find(folder, "tokenizer.json", 3);
  return file === undefined ? undefined : readSpelling(file);
}

/** The same with a cache: a tokenizer is read again only if its files changed, and the last few are kept. */
export function spellings(): typeof spellingOf {
  const known = recent<string, Spell>(4);
  return async (folder) => {
    const file = find(folder, "tokenizer.json", 3);
    if (file === undefined) return undefined;
    const key = `${statSync(file).mtimeMs} ${file}`;
    const spell = known.get(key) ?? (await readSpelling(file));
    if (spell) known.set(key, spell);
    return spell;
  };
}

async function readSpelling(file: string): Promise<Spell | undefined> {
  try {
    const { Tokenizer } = await import("@huggingface/tokenizers");
    const read = (path: string): object => JSON.parse(readFileSync(path, "utf8")) as object;
    const beside = join(file, "..", "tokenizer_config.json");
    const tokenizer = new Tokenizer(read(file), existsSync(beside) ? read(beside) : {});
    const spelt = new Map<number, string>();
    return (id) => {
      const text = spelt.get(id) ?? tokenizer.decode([id], { skip_special_tokens: false });
      spelt.set(id, text);
      return text;
    };
  } catch {
    return undefined; // pages then show the text without tokens
  }
}

function find(folder: string, name: string, depth: number): string | undefined {
  if (!existsSync(folder)) return undefined;
  if (existsSync(join(folder, name))) return join(folder, name);
  if (depth === 0) return undefined;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const found = entry.isDirectory() ? find(join(folder, entry.name), name, depth - 1) : undefined;
    if (found) return found;
  }
  return undefined;
}
