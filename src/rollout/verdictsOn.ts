import type { Ctx } from "../core/context.ts";
import type { Able } from "../core/evaluator.ts";
import { type Random, shuffled } from "../core/random.ts";
import type { Experience } from "../core/slots.ts";
import { succeeded, type Trajectory } from "../core/types.ts";
import { critiqued } from "./critiqued.ts";

/** Settings of {@link verdictsOn}. */
export interface VerdictsOnOptions {
  /** Writes the judgements; the outcome of a critique is its verdict. */
  readonly writer: Able<"critique">;
  /** Judgements of each attempt; they form a group. */
  readonly groupSize: number;
  readonly temperature: number;
}

/**
 * Attempts that were made before become prompts: a model of the run judges each of them several times, and a judgement is paid whether its
 * verdict is true.
 *
 *     v_k ~ writer(· | x, y),   r_k = 1[v_k = o]          o: y succeeded;  no verdict is a wrong one
 *
 * Trajectories and units are the judgements alone, in a group for each attempt, with the reward `rating`. Stats: verdict.right and
 * verdict.wrong, shares of true verdicts on right and on wrong attempts; label.right, the share of judgements on right attempts.
 * Papers: "Critique-Coder: Enhancing Coder Models by Critique Reinforcement Learning"; "SPARK: Synergistic Policy And Reward Co-Evolving
 * Framework".
 */
export async function verdictsOn(
  ctx: Ctx,
  attempts: readonly Trajectory[],
  { writer, groupSize, temperature }: VerdictsOnOptions,
): Promise<Experience> {
  const units = attempts.map(({ id, task }) => ({ id, group: task, members: [id] }));
  const rollout = critiqued(async () => ({ trajectories: attempts, units }), {
    writer,
    temperature,
    critiques: groupSize,
    refinements: 0,
    rate: ({ verdict, right }) => Number(verdict === right),
  });
  const { trajectories, units: judgements, stats } = await rollout(ctx);
  const given = new Set(attempts.map(({ id }) => id));
  const { first: label, ...verdicts } = stats ?? {};
  return {
    trajectories: trajectories.filter(({ id }) => !given.has(id)),
    units: judgements,
    stats: { ...verdicts, ...(label === undefined ? {} : { "label.right": label }) },
  };
}

/**
 * Up to `count` attempts, as many right as wrong ones, so that one verdict for all pays no more than a coin. With an odd count there is one
 * more of one kind, drawn anew each time; where a kind is short, the other has at most one more.
 */
export function balancedAttempts(
  attempts: readonly Trajectory[],
  count: number,
  random: Random,
): readonly Trajectory[] {
  const kinds = [true, false].map((right) => attempts.filter((t) => succeeded(t) === right));
  const [some = [], others = []] = shuffled(kinds, random.split("odd")).map((kind, i) =>
    shuffled(kind, random.split("kind", i)),
  );
  const pairs = Math.min(Math.floor(count / 2), some.length, others.length);
  const odd = 2 * pairs < count ? [...some.slice(pairs), ...others.slice(pairs)].slice(0, 1) : [];
  return [...some.slice(0, pairs), ...others.slice(0, pairs), ...odd];
}
