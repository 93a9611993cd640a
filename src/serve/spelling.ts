/** The texts of token ids, by the tokenizer that a run's folder carries. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** The text of one token id. */
export type Spell = (id: number) => string;

/** The tokenizer that a run's folder carries, if it does: credit can be painted on tokens then. */
export async function spellingOf(folder: string): Promise<Spell | undefined> {
  const file = find(folder, "tokenizer.json", 3);
  if (file === undefined) return undefined;
  try {
    const { Tokenizer } = await import("@huggingface/tokenizers");
    const read = (path: string): object => JSON.parse(readFileSync(path, "utf8")) as object;
    const beside = join(file, "..", "tokenizer_config.json");
    const tokenizer = new Tokenizer(read(file), existsSync(beside) ? read(beside) : {});
    return (id) => tokenizer.decode([id], { skip_special_tokens: false });
  } catch {
    return undefined; // the words are shown without
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
