import { fromExactJson, isObject, type Json, listOf, toExactJson } from "../../../core/json.ts";
import type { Random } from "../../../core/random.ts";
import type { Feedback, Rollout } from "../../../core/slots.ts";
import { type Id, succeeded, type Trajectory, type Unit } from "../../../core/types.ts";

/** Settings of {@link restarted}. */
export interface RestartedOptions {
  readonly groupSize: number;
  readonly temperature?: number;
  /** Share of attempts that begin at an earlier one, where there is one. */
  readonly restarts: number;
}

/** The message that follows a beginning. */
export const reflect = "reflect";

/** Names in the run's memory: stored attempts by task, and this iteration's restarts by the outcome of their beginning's attempt. */
const storeOf = (task: Id): string => `satori ${task}`;
const begun = "satori.begun";
/** Attempts of each outcome that are kept per task. */
const kept = 4;

/** Stored attempts of a task by outcome. */
interface Stored {
  readonly right: readonly Trajectory[];
  readonly wrong: readonly Trajectory[];
}

const read = (memory: Json | undefined): Stored => {
  const of = (key: string): Trajectory[] =>
    listOf(isObject(memory) ? memory[key] : undefined).map(
      (text) => fromExactJson(String(text)) as Trajectory,
    );
  return { right: of("right"), wrong: of("wrong") };
};

/**
 * A beginning: an earlier attempt, with equal chances a right or a wrong one where there are both, and a number of its turns, uniform
 * from 1 to all but one. Undefined where none has two turns.
 */
export function beginningOf(
  { right, wrong }: Stored,
  random: Random,
): { readonly attempt: Trajectory; readonly turns: number } | undefined {
  const sides = [right, wrong]
    .map((side) => side.filter(({ turns }) => turns.length > 1))
    .filter((side) => side.length > 0);
  const side = sides[sides.length > 1 ? random.split("side").below(sides.length) : 0];
  if (!side) return undefined;
  const attempt = side[random.split("attempt").below(side.length)]!;
  return { attempt, turns: 1 + random.split("turns").below(attempt.turns.length - 1) };
}

/**
 * Attempts at each task, a share of them from a beginning of an earlier attempt and the word {@link reflect}. New attempts from the
 * task itself are stored, the latest of each outcome. Needs an environment that can replay. Units: one trajectory each, grouped by task.
 * Stats: restarted, share of the attempts; repaired, share of wrong beginnings that ended right; spoilt, of right ones that ended wrong.
 * Paper: "Satori: Reinforcement Learning with Chain-of-Action-Thought Enhances LLM Reasoning via Autoregressive Search".
 */
export function restarted({ groupSize, temperature, restarts }: RestartedOptions): Rollout {
  return async (ctx) => {
    const groups = await Promise.all(
      ctx.tasks.map(async (task) => {
        const stored = read(ctx.memory.get(storeOf(task.id)));
        const plays = Array.from({ length: groupSize }, async (_, attempt) => {
          const random = ctx.random.split("restart", task.id, attempt);
          const from = random.next() < restarts ? beginningOf(stored, random) : undefined;
          const trajectories = await ctx.play({
            task: task.id,
            attempt,
            ...(temperature !== undefined && { temperature }),
            ...(from && {
              from: { trajectory: from.attempt, turn: from.turns, why: "retry" },
              advice: reflect,
            }),
          });
          const wasRight = from && stored.right.includes(from.attempt);
          return trajectories
            .filter(({ end, turns }) => end.kind !== "failed" && turns.length > (from?.turns ?? 0))
            .map((trajectory) => ({ trajectory, wasRight }));
        });
        const made = (await Promise.all(plays)).flat();
        const fresh = made
          .filter(({ wasRight }) => wasRight === undefined)
          .map(({ trajectory }) => trajectory);
        const latest = (side: readonly Trajectory[], isRight: boolean): string[] =>
          [...side, ...fresh.filter((t) => succeeded(t) === isRight)].slice(-kept).map(toExactJson);
        ctx.memory.set(storeOf(task.id), {
          right: latest(stored.right, true),
          wrong: latest(stored.wrong, false),
        });
        return { task, made };
      }),
    );
    const all = groups.flatMap(({ made }) => made);
    const tagged = all.flatMap(({ trajectory, wasRight }) =>
      wasRight === undefined ? [] : [[trajectory.id, wasRight] as const],
    );
    ctx.memory.set(begun, Object.fromEntries(tagged));
    const shareOf = (name: string, wasRight: boolean): Record<string, number> => {
      const of = all.filter((one) => one.wasRight === wasRight);
      const changed = of.filter(({ trajectory }) => succeeded(trajectory) !== wasRight);
      return of.length === 0 ? {} : { [name]: changed.length / of.length };
    };
    return {
      trajectories: all.map(({ trajectory }) => trajectory),
      units: groups.flatMap(({ task, made }) =>
        made.map(({ trajectory: { id } }): Unit => ({ id, group: task.id, members: [id] })),
      ),
      stats: {
        restarted: tagged.length / Math.max(1, all.length),
        ...shareOf("repaired", false),
        ...shareOf("spoilt", true),
      },
    };
  };
}

/**
 * The reward at the end of an attempt, on channel "outcome":
 *
 *     r = ½ + (c − 1) + bonus · k        k = 1: a wrong beginning ended right; −1: a right one ended wrong; else 0
 *
 * A beginning is wrong where the attempt that it comes from was. So without a bonus right attempts get ½ and wrong ones −½.
 * Paper: "Satori: Reinforcement Learning with Chain-of-Action-Thought Enhances LLM Reasoning via Autoregressive Search".
 */
export function restartReward(bonus: number): Feedback {
  return async (ctx, { trajectories }) => {
    const tags = ctx.memory.get(begun);
    return trajectories
      .filter(({ end }) => end.kind !== "failed")
      .map((t) => {
        const isRight = succeeded(t);
        const wasRight = isObject(tags) ? tags[t.id] : undefined;
        const change = wasRight === undefined || wasRight === isRight ? 0 : isRight ? 1 : -1;
        return {
          kind: "reward",
          channel: "outcome",
          about: [{ trajectory: t.id }],
          value: 0.5 + (Number(isRight) - 1) + bonus * change,
          source: "environment",
        };
      });
  };
}
