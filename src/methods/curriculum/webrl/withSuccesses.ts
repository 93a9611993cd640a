import { batchOf } from "../../../common/tokens/pack.ts";
import { fromExactJson, isObject, toExactJson } from "../../../core/json.ts";
import type { Model } from "../../../core/model.ts";
import { shuffled } from "../../../core/random.ts";
import type { Rollout } from "../../../core/slots.ts";
import { actionTokens, type Id, succeeded, type Trajectory } from "../../../core/types.ts";

/** Settings of {@link withSuccesses}. */
export interface WithSuccessesOptions {
  /** Most replayed successes for each new attempt. */
  readonly most: number;
  /** A success is replayed where the mean probability of its tokens is above the first and at most the second. Default 0.5 and 0.95. */
  readonly between?: readonly [low: number, high: number];
}

/** The store's name in the run's memory: the latest success of each task, as exact JSON. */
const stored = "webrl.successes";

/** Mean probability of each attempt's action tokens under a policy; each has at least one. */
export async function meanProbabilities(
  policy: Pick<Model, "score">,
  attempts: readonly Trajectory[],
): Promise<number[]> {
  if (attempts.length === 0) return [];
  const units = attempts.map((t) => ({ id: t.id, group: t.task, members: [t.id] }));
  const blank = new Map(attempts.map((t) => [t.id, new Float32Array(actionTokens(t))]));
  const { logp } = await policy.score(batchOf(attempts, units, blank).batch);
  let from = 0;
  return attempts.map((t) => {
    const own = logp.subarray(from, from + actionTokens(t));
    from += own.length;
    return own.reduce((sum, x) => sum + Math.exp(x), 0) / own.length;
  });
}

/**
 * Adds stored successes to a rollout: the latest one of each task, where the present policy finds it neither certain nor alien, at
 * most `most` for each new attempt, drawn at random. A new success takes the place of its task's older one. Replayed attempts
 * are groups of their own and are not stored again.
 *
 * Stats: replayed, for each new attempt; stored, tasks with a success.
 * Paper: "WebRL: Training LLM Web Agents via Self-Evolving Online Curriculum Reinforcement Learning".
 */
export function withSuccesses(
  rollout: Rollout,
  { most, between: [low, high] = [0.5, 0.95] }: WithSuccessesOptions,
): Rollout {
  return async (ctx) => {
    const fresh = await rollout(ctx);
    const memory = ctx.memory.get(stored);
    const known = new Map<Id, Trajectory>(
      Object.entries(isObject(memory) ? memory : {}).map(([task, text]) => [
        task,
        fromExactJson(String(text)) as Trajectory,
      ]),
    );
    const candidates = [...known.values()];
    const likely = most > 0 ? await meanProbabilities(ctx.model(), candidates) : [];
    const fitting = candidates.filter((_, i) => likely[i]! > low && likely[i]! <= high);
    const replayed = shuffled(fitting, ctx.random.split("replay")).slice(
      0,
      Math.floor(most * fresh.trajectories.length),
    );
    for (const t of fresh.trajectories) if (succeeded(t) && actionTokens(t) > 0) known.set(t.task, t);
    ctx.memory.set(stored, Object.fromEntries([...known].map(([task, t]) => [task, toExactJson(t)])));
    return {
      ...fresh,
      trajectories: [...fresh.trajectories, ...replayed],
      units: [
        ...fresh.units,
        ...replayed.map(({ id, task }) => ({ id, group: `${task}/replayed`, members: [id] })),
      ],
      stats: {
        ...fresh.stats,
        replayed: replayed.length / Math.max(1, fresh.trajectories.length),
        stored: known.size,
      },
    };
  };
}
