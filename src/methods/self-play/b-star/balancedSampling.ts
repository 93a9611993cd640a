import type { Ctx } from "../../../core/context.ts";
import { shuffled } from "../../../core/random.ts";
import type { Rollout } from "../../../core/slots.ts";
import { type Id, succeeded, type Trajectory } from "../../../core/types.ts";
import { bestBalance, type ScoredAnswer, selected } from "./balance.ts";

/** Settings of {@link balancedSampling}. */
export interface BalancedSamplingOptions {
  /** Answers to each query at a temperature. Default 64. */
  readonly groupSize?: number;
  /** Temperatures that are tried. Default 0.5, 0.55 … 0.85. */
  readonly temperatures?: readonly number[];
  /** Thresholds that are tried. Default −1, −0.99 … 1. */
  readonly thresholds?: readonly number[];
  /** Share of an iteration's queries on which they are tried; with 0 the first of each is taken. Default 0.1. */
  readonly probe?: number;
  /** Selected answers a query that are asked for, in the mean. Default 4. */
  readonly target?: number;
  /** n*, right answers of a query that are enough. Default 8. */
  readonly wanted?: number;
  /** What answers are selected by. Default {@link scoreOf}. */
  readonly scoreOf?: (ctx: Ctx, t: Trajectory) => number;
}

const usualTemperatures = Array.from({ length: 8 }, (_, i) => 0.5 + 0.05 * i);
const usualThresholds = Array.from({ length: 201 }, (_, i) => (i - 100) / 100);

/** 1 for a right answer, and a fifth of the lowest process reward (`process`) of its turns; 0 where it has none. */
export function scoreOf(t: Trajectory): number {
  const process = t.turns.flatMap(({ rewards }) => (rewards.process === undefined ? [] : [rewards.process]));
  return Number(succeeded(t)) + (process.length > 0 ? Math.min(...process) / 5 : 0);
}

/**
 * Samples answers at the temperature, and selects them by the threshold, that promise the best balance of exploration and
 * exploitation: on some queries all temperatures are tried, and the balance of every pair is computed from their answers; then the other
 * queries are sampled at the chosen temperature. Units are the selected answers alone, one each, grouped by task.
 *
 * Stats: `temperature`, `threshold`, `balance` of what was chosen, `selected` answers a query and `covered`, the share of queries with
 * one. Failed attempts are not selected.
 * Paper: "B-STaR: Monitoring and Balancing Exploration and Exploitation in Self-Taught Reasoners".
 */
export function balancedSampling(options: BalancedSamplingOptions = {}): Rollout {
  const { groupSize = 64, temperatures = usualTemperatures, probe = 0.1, target = 4, wanted = 8 } = options;
  const { thresholds = usualThresholds, scoreOf: score = (_ctx: Ctx, t: Trajectory) => scoreOf(t) } = options;
  return async (ctx) => {
    const tasks = ctx.tasks.map(({ id }) => id);
    const probed = shuffled(tasks, ctx.random.split("probe")).slice(0, Math.ceil(probe * tasks.length));
    /** Attempts of the k-th temperature have numbers of their own. */
    const sampled = async (of: readonly Id[], k: number): Promise<Map<Id, Trajectory[]>> => {
      const plays = of.map(async (task): Promise<[Id, Trajectory[]]> => {
        const played = Array.from({ length: groupSize }, (_, i) =>
          ctx.play({ task, attempt: k * groupSize + i, temperature: temperatures[k]! }),
        );
        return [task, (await Promise.all(played)).flat()];
      });
      return new Map(await Promise.all(plays));
    };
    const answersIn = (ts: readonly Trajectory[]): ScoredAnswer[] =>
      ts
        .filter(({ end, turns }) => end.kind !== "failed" && turns.length > 0)
        .map((t) => ({ id: t.id, text: textOf(t), right: succeeded(t), score: score(ctx, t) }));
    const trials = await Promise.all(temperatures.map((_, k) => sampled(probed, k)));
    const chosen = bestBalance(
      trials.map((trial, k) => ({
        temperature: temperatures[k]!,
        queries: [...trial.values()].map(answersIn),
      })),
      { thresholds, target: target * probed.length, wanted },
    );
    const at = temperatures.indexOf(chosen.temperature);
    const rest = await sampled(
      tasks.filter((task) => !probed.includes(task)),
      at,
    );
    const all = [...trials[at]!, ...rest];
    const kept = selected(
      all.map(([, ts]) => answersIn(ts)),
      chosen.threshold,
      target * tasks.length,
    );
    const others = trials.flatMap((trial, k) => (k === at ? [] : [...trial.values()].flat()));
    return {
      trajectories: [...all.flatMap(([, ts]) => ts), ...others],
      units: kept.flatMap((own, q) => own.map(({ id }) => ({ id, group: all[q]![0], members: [id] }))),
      stats: {
        ...chosen,
        selected: kept.reduce((sum, own) => sum + own.length, 0) / Math.max(1, kept.length),
        covered: kept.filter((own) => own.length > 0).length / Math.max(1, kept.length),
      },
    };
  };
}

const textOf = ({ turns }: Trajectory): string => turns.map(({ action }) => action.content.trim()).join("\n");
