import type { Codec } from "../../../core/model.ts";
import type { Annotate } from "../../../core/slots.ts";
import { actionTokens, type Id } from "../../../core/types.ts";

/** Half-open range of characters of an action. */
export type Range = readonly [from: number, to: number];

/** Settings of {@link blocks}. */
export interface BlocksOptions {
  /** Names of the blocks, in the order in which they are numbered. */
  readonly names: readonly string[];
  /** Finds a block in the text of an action. Default: from `<name>` to `</name>`, tags included. */
  readonly find?: (text: string, name: string) => Range | undefined;
  /** Name of the note. Default "block". */
  readonly note?: string;
}

/**
 * Which part of a structured action each token belongs to: 1 for the first of the names, 2 for the second and so on, 0
 * outside of all blocks. A token belongs to the block that holds its first non-blank character; a token without
 * text, such as the end token, to none. Where blocks overlap, the first of the names wins.
 *
 * Notes: [action tokens] of each trajectory with action tokens.
 * Paper: "HiPER: Hierarchical Reinforcement Learning with Explicit Credit Assignment for Large Language Model Agents".
 */
export function blocks({ names, find = tagged, note = "block" }: BlocksOptions): Annotate {
  return async (ctx, { trajectories }) => {
    const found = new Map<Id, Float32Array>();
    for (const t of trajectories) {
      if (actionTokens(t) === 0) continue;
      const parts = t.turns.flatMap(({ tokens, model }) => {
        if (!tokens) return [];
        const { codec } = ctx.model(model);
        const text = codec.decode(tokens.action);
        return [
          ...blocksOf(
            tokens.action,
            names.map((name) => find(text, name)),
            codec,
          ),
        ];
      });
      found.set(t.id, Float32Array.from(parts));
    }
    return { [note]: found };
  };
}

/** From the opening tag to the closing one, both included; a block that is never closed runs to the end. */
export function tagged(text: string, name: string): Range | undefined {
  const from = text.indexOf(`<${name}>`);
  if (from < 0) return undefined;
  const close = `</${name}>`;
  const to = text.indexOf(close, from);
  return [from, to < 0 ? text.length : to + close.length];
}

/** Number of the block of each token, [action]. */
function blocksOf(action: Int32Array, ranges: readonly (Range | undefined)[], codec: Codec): Float32Array {
  const text = codec.decode(action);
  const inBlock = (at: number): number =>
    ranges.findIndex((range) => range !== undefined && at >= range[0] && at < range[1]) + 1;
  return Float32Array.from(action, (_, a) => {
    let at = codec.decode(action.subarray(0, a)).length;
    if (codec.decode(action.subarray(0, a + 1)).length === at) return 0;
    while (at < text.length && /\s/.test(text[at]!)) at++;
    return inBlock(at);
  });
}
