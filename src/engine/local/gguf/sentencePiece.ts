/** SentencePiece's BPE with byte fallback, as Llama 2 and Mistral have it: by scores in a GGUF file, by merges in a Hugging Face tokenizer. */

/** Marks the beginning of a word. */
const space = "▁";

/** Parts of a Hugging Face tokenizer that say how texts become pieces and pieces texts. */
export interface SentencePieceParts {
  readonly normalizer: object;
  readonly decoder: object;
}

/** @param prefix whether a text gets a space in front, also after a special token. */
export const sentencePieceParts = (prefix: boolean): SentencePieceParts => {
  const spaces = { type: "Replace", pattern: { String: " " }, content: space };
  return {
    normalizer: prefix
      ? { type: "Sequence", normalizers: [{ type: "Prepend", prepend: space }, spaces] }
      : spaces,
    decoder: {
      type: "Sequence",
      decoders: [
        { type: "Replace", pattern: { String: space }, content: " " },
        { type: "ByteFallback" },
        { type: "Fuse" },
        ...(prefix ? [{ type: "Strip", content: " ", start: 1, stop: 0 }] : []),
      ],
    },
  };
};

/**
 * The pairs that make a piece, best piece first: what a BPE merges in this order becomes what SentencePiece merges by score.
 * @param pieces ordinary pieces, which texts are made of, by id. @param scores by id; the higher, the earlier.
 */
export function mergesByScore(
  pieces: ReadonlyMap<string, number>,
  scores: readonly number[],
): readonly (readonly [string, string])[] {
  const merges: { readonly pair: readonly [string, string]; readonly order: readonly number[] }[] = [];
  for (const [piece, id] of pieces) {
    const characters = [...piece];
    for (let i = 1; i < characters.length; i++) {
      const pair = [characters.slice(0, i).join(""), characters.slice(i).join("")] as const;
      const [left, right] = pair.map((part) => pieces.get(part));
      if (left !== undefined && right !== undefined)
        merges.push({ pair, order: [-scores[id]!, left, right] });
    }
  }
  const byOrder = (a: readonly number[], b: readonly number[]): number =>
    a.reduce((found, x, i) => found || x - b[i]!, 0);
  return merges.sort((a, b) => byOrder(a.order, b.order)).map(({ pair }) => pair);
}

/** Scores by which SentencePiece merges as these merges say: the earlier a piece is made, the higher. Pieces that none makes get 0. */
export function scoresOf(
  tokens: readonly string[],
  merges: readonly (readonly [string, string])[],
): readonly number[] {
  const first = new Map<string, number>();
  for (const [i, [left, right]] of merges.entries()) {
    const made = left + right;
    if (!first.has(made)) first.set(made, i);
  }
  return tokens.map((token) => {
    const at = first.get(token);
    return at === undefined ? 0 : -1 - at;
  });
}
