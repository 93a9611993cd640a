/** How a model plays a game, exactly: its probability of every move in every information set. */

import { pairRows } from "../../common/tokens/pack.ts";
import { concatIds } from "../../common/tokens/sequence.ts";
import type { Model } from "../../core/model.ts";
import { type GameTree, normalised, type Strategy } from "./tree.ts";

/** A model's strategy. */
export interface ModelStrategy {
  /** Given that it makes a move. */
  readonly strategy: Strategy;
  /** Probability that its reply is a move at all, [information sets]. */
  readonly legal: Float64Array;
}

/** Rows that are scored at once. */
const most = 512;

/**
 * Scores every move in every information set at temperature 1, as the model would be prompted in play. A transformer scores as many
 * rows as there are moves in the tree (30 for Kuhn poker, some 700 for Leduc poker).
 */
export async function strategyOf(
  tree: GameTree,
  model: Pick<Model, "codec" | "score">,
): Promise<ModelStrategy> {
  const { codec } = model;
  const pairs = tree.sets.flatMap(({ conversation, legal }) => {
    const prompt = codec.open(conversation);
    return legal.map((move) => {
      const reply = codec.encode(move);
      // as in play: a reply that fills the limit is cut there, and a shorter one ends by itself
      const target =
        reply.length < tree.game.moveTokens ? concatIds([reply, Int32Array.of(codec.endId)]) : reply;
      return { prompt, target };
    });
  });
  const chances = new Float64Array(pairs.length);
  for (let from = 0; from < pairs.length; from += most) {
    const rows = pairRows(pairs.slice(from, from + most));
    const { logp } = await model.score(rows);
    for (let r = 0; r + 1 < rows.targetOffset.length; r++) {
      const own = logp.subarray(rows.targetOffset[r], rows.targetOffset[r + 1]);
      chances[from + r] = Math.exp(own.reduce((a, b) => a + b, 0));
    }
  }
  let at = 0;
  const raw = tree.sets.map(({ legal }) => chances.slice(at, (at += legal.length)));
  return {
    strategy: raw.map(normalised),
    legal: Float64Array.from(raw, (p) =>
      Math.min(
        1,
        p.reduce((a, b) => a + b, 0),
      ),
    ),
  };
}
