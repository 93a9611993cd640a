import { moments } from "../../../advantage/returns.ts";
import type { Ctx, Play } from "../../../core/context.ts";
import { fromExactJson, isObject, type Json, listOf, toExactJson } from "../../../core/json.ts";
import type { Random } from "../../../core/random.ts";
import type { Rollout } from "../../../core/slots.ts";
import { type Id, paid, succeeded, type Trajectory, type Unit } from "../../../core/types.ts";
import { improvementOf } from "./improvement.ts";

/** Settings of {@link exploring}. */
export interface ExploringOptions {
  readonly groupSize: number;
  readonly temperature?: number;
  /** Turns of an item: one step of improvement. Default 1. */
  readonly steps?: number;
  /** p_s, probability that an item comes from the buffer. Default 0.5. */
  readonly fromBuffer?: number;
  /** κ, how much items of high variance are preferred; 0 draws uniformly. Default 6. */
  readonly sharpness?: number;
  /** p_div, probability that an item asks for another approach. Default 0.2. */
  readonly diverge?: number;
  /** Items that the buffer holds at most. Default 1000. */
  readonly capacity?: number;
  /** Items that it has to hold before any is drawn. Default 8. */
  readonly least?: number;
}

/** An item of training: a task, and the beginning of an earlier attempt at it. */
export interface Item {
  readonly task: Id;
  /** The earlier attempt as exact JSON, whose first `turns` turns are taken over. */
  readonly attempt: string;
  readonly turns: number;
  /** S: variance of the returns of its latest group. */
  readonly score: number;
}

/** The message that asks for another approach. */
export const otherApproach = "try another approach";

/** The buffer's name in the run's memory. */
const stored = "exit";

/**
 * Index of an item drawn in proportion to exp(κ S / max S); uniformly where no score is above 0.
 * @param scores not empty.
 */
export function drawn(scores: readonly number[], sharpness: number, random: Random): number {
  const most = Math.max(...scores);
  const weights = scores.map((score) => Math.exp(most > 0 ? (sharpness * score) / most : 0));
  let left = random.next() * weights.reduce((a, b) => a + b, 0);
  const found = weights.findIndex((weight) => {
    left -= weight;
    return left < 0;
  });
  return found < 0 ? scores.length - 1 : found;
}

/** The items of the highest scores; of equal ones the newer. */
export const best = (items: readonly Item[], capacity: number): Item[] =>
  items.length <= capacity
    ? [...items]
    : items
        .toReversed()
        .toSorted((a, b) => b.score - a.score)
        .slice(0, capacity);

/**
 * Exploratory iteration: every group is one step of improvement, from the start of a task or from the beginning of an earlier
 * attempt. The buffer of beginnings grows with training.
 *
 *     item: with probability p_s, once the buffer has enough, m ∝ exp(κ S(m) / max S), else a task of this iteration
 *     after its group: S(m) = Var(R) over the group; an attempt y of the group, drawn uniformly, gives new items
 *     (task, first k turns of y) for each new turn, of score S(m), or 0 where y has solved the task
 *
 * An attempt that ended by itself gives no item at its end, since nothing can follow. Units: one trajectory each, grouped by item.
 * The environment has to be able to replay. Stats: fromBuffer, the share of groups; depth, mean turns that a group took over.
 * Paper: "Bootstrapping Task Spaces for Self-Improvement".
 */
export function exploring(options: ExploringOptions): Rollout {
  const { fromBuffer = 0.5, sharpness = 6, capacity = 1000, least = 8, diverge = 0.2 } = options;
  return async (ctx) => {
    const buffer = readItems(ctx.memory.get(stored));
    const groups = await Promise.all(
      ctx.tasks.map(async (task, slot) => {
        const random = ctx.random.split("exit", slot);
        const isOld = buffer.length >= least && random.split("kind").next() < fromBuffer;
        const scores = buffer.map(({ score }) => score);
        const at = isOld ? drawn(scores, sharpness, random.split("item")) : undefined;
        const item = at === undefined ? undefined : buffer[at]!;
        const isOther = random.split("diverge").next() < diverge;
        const trajectories = await played(ctx, item, item?.task ?? task.id, slot, isOther, options);
        return { at, item, trajectories, key: `${item?.task ?? task.id}#${slot}`, random };
      }),
    );
    const next = [...buffer];
    for (const { at, item, trajectories, random } of groups) {
      const whole = trajectories.filter(isWhole);
      if (whole.length === 0) continue;
      const score = moments(whole.map(improvementOf)).deviation ** 2;
      if (at !== undefined) next[at] = { ...next[at]!, score };
      next.push(...grown(whole[random.split("grow").below(whole.length)]!, item?.turns ?? 0, score));
    }
    ctx.memory.set(
      stored,
      best(next, capacity).map((item) => ({ ...item })),
    );
    const units = groups.flatMap(({ trajectories, key }) =>
      trajectories.filter(isWhole).map(({ id }): Unit => ({ id, group: key, members: [id] })),
    );
    const count = Math.max(1, groups.length);
    return {
      trajectories: groups.flatMap(({ trajectories }) => trajectories),
      units,
      stats: {
        fromBuffer: groups.filter(({ at }) => at !== undefined).length / count,
        depth: groups.reduce((sum, { item }) => sum + (item?.turns ?? 0) / count, 0),
      },
    };
  };
}

async function played(
  ctx: Ctx,
  item: Item | undefined,
  task: Id,
  slot: number,
  isOther: boolean,
  { groupSize, temperature, steps = 1 }: ExploringOptions,
): Promise<readonly Trajectory[]> {
  const turns = item?.turns ?? 0;
  const shared: Omit<Play, "attempt"> = {
    task,
    limits: { turns: turns + steps },
    ...(temperature === undefined ? {} : { temperature }),
    ...(item && {
      from: { trajectory: fromExactJson(item.attempt) as Trajectory, turn: turns, why: "branch" },
    }),
    ...(isOther && {
      advise: ({ turn }) => (turn === turns ? [{ role: "user", content: otherApproach }] : []),
    }),
  };
  const plays = Array.from({ length: groupSize }, (_, i) =>
    ctx.play({ ...shared, attempt: slot * groupSize + i }),
  );
  return (await Promise.all(plays)).flat();
}

/** The items that an attempt gives: one for each turn that it made, where another can follow. */
export function grown(t: Trajectory, taken: number, score: number): Item[] {
  const made = t.turns.length;
  const last = t.end.kind === "truncated" ? made : made - 1;
  const attempt = toExactJson(t);
  const isSolved = succeeded(t) || paid(t) >= 1;
  return Array.from({ length: Math.max(0, last - taken) }, (_, i) => ({
    task: t.task,
    attempt,
    turns: taken + i + 1,
    score: isSolved ? 0 : score,
  }));
}

const isWhole = (t: Trajectory): boolean => t.end.kind !== "failed" && t.turns.length > 0;

const readItems = (kept: Json | undefined): Item[] =>
  listOf(kept).flatMap((one) =>
    isObject(one)
      ? [
          {
            task: String(one.task),
            attempt: String(one.attempt),
            turns: Number(one.turns),
            score: Number(one.score),
          },
        ]
      : [],
  );
