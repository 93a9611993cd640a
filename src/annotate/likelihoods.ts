/** Shared by annotations: likelihoods of given answers before each turn of a trajectory. */

import { pairRows } from "../common/tokens/pack.ts";
import { concatIds } from "../common/tokens/sequence.ts";
import { present } from "../core/errors.ts";
import type { Codec, Frozen, Model } from "../core/model.ts";
import type { Id, Trajectory } from "../core/types.ts";

/** A trajectory and the answers whose likelihoods are averaged. */
export interface Asked {
  readonly trajectory: Trajectory;
  readonly answers: readonly string[];
}

/**
 * Mean over the answers of the geometric mean of their tokens' probabilities, given the exact prompt of each turn and
 * the opening of an answer. One model call, with each distinct pair of context and answer once, sorted so that shared
 * prefixes are adjacent.
 * @param longest context length of the model in tokens: an answer that does not fit after a turn's prompt is left out.
 * @returns by trajectory, one number per turn; NaN where no answer fits.
 */
export async function answerLikelihoods(
  model: Pick<Model | Frozen, "codec" | "score">,
  asked: readonly Asked[],
  opening: string,
  longest: number,
): Promise<Map<Id, Float32Array>> {
  const pairs: { prompt: Int32Array; target: Int32Array }[] = [];
  const places = new Map<string, number>();
  const place = (prompt: Int32Array, target: Int32Array): number => {
    const key = `${prompt.join(" ")} > ${target.join(" ")}`;
    const known = places.get(key);
    if (known !== undefined) return known;
    places.set(key, pairs.length);
    return pairs.push({ prompt, target }) - 1;
  };
  const asPlaces = asked.map(({ trajectory, answers }) =>
    trajectory.turns.map((turn) => {
      const { prompt } = present(turn.tokens, "answerLikelihoods", "tokens of every turn");
      return answers.flatMap((answer) => {
        const { begun, rest } = opened(model.codec, opening, answer);
        const fits = prompt.length + begun.length + rest.length <= longest;
        return fits ? [place(concatIds([prompt, begun]), rest)] : [];
      });
    }),
  );
  const rows = pairRows(pairs);
  const { logp } = pairs.length > 0 ? await model.score(rows) : { logp: new Float32Array() };
  const likelihoods = pairs.map((_, r) => {
    const own = logp.subarray(rows.targetOffset[r]!, rows.targetOffset[r + 1]!);
    return Math.exp(own.reduce((sum, x) => sum + x, 0) / own.length);
  });
  return new Map(
    asked.map(({ trajectory }, i) => [
      trajectory.id,
      Float32Array.from(asPlaces[i]!, (of) =>
        of.length === 0 ? Number.NaN : of.reduce((sum, r) => sum + likelihoods[r]! / of.length, 0),
      ),
    ]),
  );
}

/** The tokens of "opening answer", split where those of the opening alone end; the blank may belong to either side. */
function opened(codec: Codec, opening: string, answer: string): { begun: Int32Array; rest: Int32Array } {
  const alone = codec.encode(opening);
  const whole = codec.encode(opening === "" ? answer : `${opening} ${answer}`);
  let cut = 0;
  while (cut < alone.length && cut < whole.length - 1 && alone[cut] === whole[cut]) cut++;
  return { begun: whole.subarray(0, cut), rest: whole.subarray(cut) };
}
