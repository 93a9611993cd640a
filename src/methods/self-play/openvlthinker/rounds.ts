import type { Ctx } from "../../../core/context.ts";
import type { Rollout } from "../../../core/slots.ts";
import { actionTokens, type ModelId, succeeded, type Task, type Trajectory } from "../../../core/types.ts";
import { multiTurn } from "../../../rollout/multiTurn.ts";

/** Settings of {@link rounds}. */
export interface RoundsOptions {
  /** N: each is a stage of imitation and one of reinforcement. */
  readonly rounds: number;
  readonly groupSize: number;
  readonly temperature?: number;
  /** The environment's scripted player whose episodes the first round imitates. */
  readonly player: "expert" | "flawed";
  /** Most tokens of an imitated trace. */
  readonly longest: number;
  /** Words of doubt, and how many of them an imitated trace may have. */
  readonly doubts: { readonly words: readonly string[]; readonly most: number };
  /** Traces of a task that are imitated, shortest first. */
  readonly perTask: number;
}

/** The model that a round trains, from 1: each begins as the base, and the last one is the policy. */
export const modelOf = (round: number, all: number): ModelId => (round === all ? "policy" : `round${round}`);

/** The round and stage of an iteration: all stages take equally long. */
export function stageOf(
  iteration: number,
  iterations: number,
  all: number,
): { readonly round: number; readonly kind: "imitate" | "reinforce" } {
  const stage = Math.min(2 * all - 1, Math.floor((2 * all * iteration) / Math.max(1, iterations)));
  return { round: Math.floor(stage / 2) + 1, kind: stage % 2 === 0 ? "imitate" : "reinforce" };
}

/** Number of words of doubt in a trace. */
export const doubtsIn = (t: Trajectory, words: readonly string[]): number =>
  t.turns.flatMap(({ action }) => action.content.split(/\s+/)).filter((word) => words.includes(word)).length;

/**
 * The traces worth imitating: right, not too long, with few words of doubt; the shortest of each task, the first of equals.
 *
 *     D = {(x, y) : R(x, y) = 1, len(y) ≤ L, doubts(y) ≤ c},   at most `perTask` of each x
 */
export const worthImitating = (
  traces: readonly Trajectory[],
  { longest, doubts, perTask }: Pick<RoundsOptions, "longest" | "doubts" | "perTask">,
): Trajectory[] =>
  [...Map.groupBy(traces, (t) => t.task).values()].flatMap((own) =>
    own
      .filter((t) => succeeded(t) && actionTokens(t) <= longest && doubtsIn(t, doubts.words) <= doubts.most)
      .toSorted((a, b) => actionTokens(a) - actionTokens(b))
      .slice(0, perTask),
  );

/**
 * Rounds of imitation and reinforcement, each of which begins again from the base weights:
 *
 *     round n, imitate:    D_n = filtered traces of π_{n−1}, of the scripted player in the first round;   θ ← SFT(base; D_n)
 *     round n, reinforce:  groups of π_n, for a policy gradient
 *
 * Each round has a model of its own (see {@link modelOf}), so that it starts from the base and the round before stays as the one that
 * is sampled. What is imitated is a unit of its task's group, with origin "demonstrated" and the round's model; traces
 * that are not stay among the trajectories. Stats: `round`; `tokens`, mean length of the traces that were sampled or shown; while
 * imitating `kept`, share of them.
 * Paper: "OpenVLThinker: An Early Exploration to Complex Vision-Language Reasoning via Iterative Self-Improvement".
 */
export function rounds(options: RoundsOptions): Rollout {
  return async (ctx) => {
    const { iteration, iterations = 1 } = ctx.clock;
    const { round, kind } = stageOf(iteration, iterations, options.rounds);
    const model = modelOf(round, options.rounds);
    const { groupSize, temperature } = options;
    if (kind === "reinforce") {
      const models = Object.fromEntries(ctx.roles.map((role) => [role, model]));
      const played = await multiTurn({
        ...{ groupSize, models },
        ...(temperature !== undefined && { temperature }),
      })(ctx);
      return { ...played, stats: { ...played.stats, round, tokens: meanTokens(played.trajectories) } };
    }
    const traces = (await Promise.all(ctx.tasks.map((task) => tracesOf(ctx, task, round, options)))).flat();
    const kept = worthImitating(traces, options).map(
      (t): Trajectory => ({
        ...t,
        id: `${t.id}/imitated`,
        origin: "demonstrated",
        turns: t.turns.map((turn) => ({ ...turn, model })),
      }),
    );
    return {
      trajectories: [...traces, ...kept],
      units: kept.map(({ id, task }) => ({ id, group: task, members: [id] })),
      stats: { round, tokens: meanTokens(traces), kept: kept.length / Math.max(1, traces.length) },
    };
  };
}

async function tracesOf(
  ctx: Ctx,
  { id }: Task,
  round: number,
  { rounds: all, groupSize, player, temperature }: RoundsOptions,
): Promise<readonly Trajectory[]> {
  const before = Object.fromEntries(ctx.roles.map((role) => [role, modelOf(round - 1, all)]));
  const plays = Array.from({ length: groupSize }, (_, attempt) =>
    ctx.play({
      ...{ task: id, attempt },
      ...(round === 1 ? { player } : { models: before, ...(temperature !== undefined && { temperature }) }),
    }),
  );
  const played = (await Promise.all(plays)).flat();
  return played.filter(({ end, turns }) => end.kind !== "failed" && turns.length > 0);
}

const meanTokens = (all: readonly Trajectory[]): number =>
  all.reduce((sum, t) => sum + actionTokens(t), 0) / Math.max(1, all.length);
