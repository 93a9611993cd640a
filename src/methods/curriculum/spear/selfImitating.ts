import { mapById } from "../../../common/mapById.ts";
import { fromExactJson, type Json, listOf, toExactJson } from "../../../core/json.ts";
import type { Rollout } from "../../../core/slots.ts";
import { paid, type Trajectory } from "../../../core/types.ts";
import { callsOf } from "./toolBonus.ts";

/** Settings of {@link selfImitating}. */
export interface SelfImitatingOptions {
  /** Iterations after which a stored attempt is dropped. Default 5. */
  readonly staleness?: number;
  /** Stored attempts at which all are replayed, as a multiple of an iteration's attempts. Default 1.5. */
  readonly fill?: number;
  /** Smallest number of calls of an attempt that is stored. Default 1. */
  readonly calls?: number;
}

interface Stored {
  readonly iteration: number;
  readonly trajectory: Trajectory;
}

/** The group of all replayed attempts. */
export const replayGroup = "replay";
const store = "spear";

/**
 * Stores the policy's own attempts that earned more than the mean of their group and called a tool, with the log-probabilities
 * of the policy that sampled them. Once `fill` times an iteration's attempts are stored, all are replayed once, in a group of
 * their own, and the store is empty again. Attempts older than `staleness` iterations are dropped before. Rewards are those of
 * the environment, without any bonus, so that a bonus that fades does not make old attempts look better.
 *
 * Stats: `replayed`, the number of attempts; `stored`, those in the store afterwards.
 * Paper: "Learn the Ropes, Then Trust the Wins: Self-imitation with Progressive Exploration for Agentic Reinforcement Learning".
 */
export function selfImitating(rollout: Rollout, options: SelfImitatingOptions = {}): Rollout {
  const { staleness = 5, fill = 1.5, calls = 1 } = options;
  return async (ctx) => {
    const { iteration } = ctx.clock;
    const played = await rollout(ctx);
    const byId = mapById(played.trajectories);
    const texts = listOf(ctx.memory.get(store)).filter((text): text is string => typeof text === "string");
    // only this file writes them
    const kept = texts
      .map((text) => fromExactJson(text) as Stored)
      .filter((item) => iteration - item.iteration <= staleness);
    for (const group of Map.groupBy(played.units, (unit) => unit.group).values()) {
      const attempts = group.flatMap(({ members }) => members.flatMap((id) => byId.get(id) ?? []));
      const mean = attempts.reduce((sum, t) => sum + paid(t) / attempts.length, 0);
      for (const trajectory of attempts)
        if (paid(trajectory) > mean && callsOf(trajectory) >= calls) kept.push({ iteration, trajectory });
    }
    const isFull = kept.length > fill * played.units.length;
    const again = isFull
      ? kept.map(({ trajectory }, i) => replayed(trajectory, `${iteration}/again/${i}`))
      : [];
    const left: Json = isFull ? [] : kept.map((item) => toExactJson(item));
    ctx.memory.set(store, left);
    return {
      ...played,
      trajectories: [...played.trajectories, ...again],
      units: [...played.units, ...again.map(({ id }) => ({ id, group: replayGroup, members: [id] }))],
      stats: { ...played.stats, replayed: again.length, stored: isFull ? 0 : kept.length },
    };
  };
}

const replayed = (t: Trajectory, prefix: string): Trajectory => ({
  ...t,
  id: `${prefix}/${t.id}`,
  episode: `${prefix}/${t.episode}`,
  origin: "replayed",
});
