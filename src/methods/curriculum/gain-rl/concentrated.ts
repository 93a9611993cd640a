import { mapById } from "../../../common/mapById.ts";
import { wholeSequence } from "../../../common/tokens/sequence.ts";
import type { Json } from "../../../core/json.ts";
import { type Random, shuffled } from "../../../core/random.ts";
import type { Data } from "../../../core/slots.ts";
import { type Id, paid } from "../../../core/types.ts";
import { concentrations, cosineWithin, statesOf } from "./concentration.ts";

/** Settings of {@link concentrated}. Shares are of the number of tasks. */
export interface ConcentratedOptions {
  /** Tasks per iteration. */
  readonly tasks: number;
  /** n, factor of both steps of the centre, as a share. */
  readonly advance: number;
  /** σ of the ranks that are drawn, as a share. */
  readonly spread: number;
  /** Largest step of the centre, as a share. */
  readonly most: number;
  /** Factor of the cosine between question and shared prefix. */
  readonly across: number;
  /** Layer of the hidden states. */
  readonly layer: number;
  /** What ranks the tasks: the concentration, or chance. */
  readonly rank: "concentrated" | "random";
}

/** Ids by falling concentration, empty before they are ranked, and μ, the rank that is drawn most. */
export interface ConcentratedState extends Readonly<Record<string, Json>> {
  readonly order: readonly Id[];
  readonly centre: number;
}

/** α and β of the centre's step. */
const [alpha, beta] = [2, 0.5];

/**
 * How far the centre moves on, in ranks:
 *
 *     clamp(n tanh(α (accuracy − β)) + n tanh(α angle), 0, most)        α = 2, β = ½
 */
export function stepOf(
  { accuracy, angle }: { readonly accuracy: number; readonly angle: number },
  n: number,
  most: number,
): number {
  const step = n * Math.tanh(alpha * (accuracy - beta)) + n * Math.tanh(alpha * angle);
  return Math.min(most, Math.max(0, step));
}

/** `count` different ranks below `size`, drawn one after the other with P(k) ∝ exp(−(k − μ)² / (2 σ²)); all where there are fewer. */
export function drawnRanks(
  size: number,
  count: number,
  centre: number,
  deviation: number,
  random: Random,
): number[] {
  // the largest of ln w + Gumbel noise are draws without replacement in proportion to w
  const keys = Array.from({ length: size }, (_, k) => {
    const noise = -Math.log(-Math.log(Math.max(Number.MIN_VALUE, random.next())));
    return noise - (k - centre) ** 2 / (2 * deviation ** 2);
  });
  return [...keys.keys()].sort((a, b) => keys[b]! - keys[a]!).slice(0, count);
}

/**
 * Tasks by the concentration of the angles between their tokens' hidden states, from the most concentrated on. The first choice
 * ranks all tasks by a forward pass over their prompts; each then draws ranks from a Gaussian whose centre moves on with the mean
 * reward of the iteration and the mean cosine of two tokens of its attempts. The centre never goes back, and stays at the last
 * rank once it is there. Rewards are sums over the episode and belong into [0, 1]; an iteration whose episodes all failed moves nothing.
 * Paper: "Angles Don't Lie: Unlocking Training-Efficient RL Through the Model's Own Signals".
 */
export function concentrated(options: ConcentratedOptions): Data<ConcentratedState> {
  const { tasks: count, advance, spread, most, layer, rank } = options;
  return {
    name: "concentrated",
    init: () => ({ order: [], centre: 0 }),
    async choose(ctx, tasks, { order: known, centre }) {
      let order = known;
      if (order.length === 0) {
        const ids = tasks.map(({ id }) => id);
        const scores = await concentrations(ctx.model(), tasks, options);
        order =
          rank === "random"
            ? shuffled(ids, ctx.random.split("order"))
            : ids.toSorted((a, b) => scores.get(b)! - scores.get(a)!);
      }
      const byId = mapById(tasks);
      const ranks = drawnRanks(order.length, count, centre, spread * order.length, ctx.random.split("ranks"));
      return { tasks: ranks.flatMap((k) => byId.get(order[k]!) ?? []), next: { order, centre } };
    },
    async observe(ctx, { trajectories }, state) {
      const ended = trajectories.filter(({ end }) => end.kind !== "failed");
      const sequences = ended.flatMap(({ turns }) => {
        const tokens = turns.at(-1)?.tokens;
        return tokens ? [wholeSequence(tokens)] : [];
      });
      if (sequences.length === 0) return state;
      const states = await statesOf(ctx.model(), sequences, layer);
      const angles = states.map((of, i) => cosineWithin(of, 0, sequences[i]!.length));
      const size = state.order.length;
      const step = stepOf(
        { accuracy: meanOf(ended.map(paid)), angle: meanOf(angles) },
        advance * size,
        most * size,
      );
      return { ...state, centre: Math.min(size - 1, state.centre + step) };
    },
  };
}

const meanOf = (xs: readonly number[]): number => xs.reduce((a, b) => a + b, 0) / xs.length;
