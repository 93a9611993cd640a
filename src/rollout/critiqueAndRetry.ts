/** Second attempts: code shared by the rollouts that retry. */

import { withoutAdvice } from "../common/tokens/rewrite.ts";
import type { Ctx } from "../core/context.ts";
import type { Critique } from "../core/critique.ts";
import { type Able, evaluatorIn } from "../core/evaluator.ts";
import type { Experience } from "../core/slots.ts";
import type { Id, Message, Stats, Trajectory } from "../core/types.ts";

/** Settings of a retry. */
export interface Retry {
  /** Messages before the first new action. */
  readonly advice: string | readonly Message[];
  /** Number of the earlier attempt's turns to replay; 0 restarts the episode. Clamped to the length of the attempt. */
  readonly turn: number;
  /** Attempt number of the new episode, unique for its task and iteration. */
  readonly attempt: number;
  /** Default 1. */
  readonly temperature?: number;
}

/** A second attempt with advice, and the same actions without it. Both have the first attempt as parent. */
export interface Retried {
  readonly advised: Trajectory;
  /** Re-rendered without the advice: its log-probabilities are unknown until they are scored. */
  readonly plain: Trajectory;
}

/**
 * Retries a task with advice in the context, from its beginning or from a turn of an earlier attempt. Replayed turns keep
 * their tokens. A restart in mid-episode needs an environment that can replay.
 * @returns undefined where the new episode failed or has no new turn.
 */
export async function retried(ctx: Ctx, earlier: Trajectory, retry: Retry): Promise<Retried | undefined> {
  const { advice, attempt, temperature } = retry;
  const turn = Math.max(0, Math.min(retry.turn, earlier.turns.length - 1));
  const played = await ctx.play({
    task: earlier.task,
    attempt,
    advice,
    ...(turn > 0 && { from: { trajectory: earlier, turn, why: "retry" } }),
    ...(temperature !== undefined && { temperature }),
  });
  const again = played.find((t) => t.role === earlier.role);
  const model = again?.turns[turn]?.model;
  if (again === undefined || model === undefined || again.end.kind === "failed") return undefined;
  const lineage = { parent: earlier.id, turn };
  const { codec } = ctx.model(model);
  const given = { turn, messages: typeof advice === "string" ? 1 : advice.length };
  const plain = withoutAdvice(again, `${again.id}/plain`, codec, given);
  return {
    advised: { ...again, lineage: { ...lineage, why: "retry" } },
    plain: { ...plain, lineage: { ...lineage, why: "rewrite" } },
  };
}

/** Settings of {@link critiqueAndRetry}. */
export interface CritiqueAndRetryOptions {
  readonly critiquer: Able<"critique">;
  /** Name of the critiquer's random streams. */
  readonly stream: string;
  /** Which attempts are criticised. Default: all. */
  readonly of?: (t: Trajectory) => boolean;
  /** The retry after a critique; undefined for no retry. */
  readonly retry: (critique: Critique, t: Trajectory) => Omit<Retry, "attempt"> | undefined;
}

/** An attempt with its critique and its retry. */
export interface CritiquedAttempt {
  readonly t: Trajectory;
  readonly group: Id;
  readonly critique: Critique | undefined;
  readonly retry: Retried | undefined;
}

/** Criticises and retries every attempt in the units of an experience, concurrently. */
export async function critiqueAndRetry(
  ctx: Ctx,
  experience: Experience,
  review: CritiqueAndRetryOptions,
): Promise<readonly CritiquedAttempt[]> {
  const { trajectories, units } = experience;
  const { critique } = evaluatorIn(ctx, review.critiquer);
  const groupOf = new Map(units.flatMap(({ members, group }) => members.map((m) => [m, group])));
  const attempts = trajectories.flatMap((t) => {
    const group = groupOf.get(t.id);
    return group === undefined ? [] : [{ t, group }];
  });
  return Promise.all(
    attempts.map(async ({ t, group }, i): Promise<CritiquedAttempt> => {
      const said =
        (review.of?.(t) ?? true) ? await critique(t, ctx.random.split(review.stream, t.id)) : undefined;
      const again = said && review.retry(said, t);
      const retry = again && (await retried(ctx, t, { ...again, attempt: trajectories.length + i }));
      return { t, group, critique: said, retry };
    }),
  );
}

/**
 * Adds the results of reviews to an experience: the new trajectories, each a unit of the given group, and the critiques.
 * Stats: the given ones, and retries per attempt.
 */
export function withCritiques(
  experience: Experience,
  reviews: readonly CritiquedAttempt[],
  further: readonly { readonly t: Trajectory; readonly group: Id }[],
  stats: Stats,
): Experience {
  const said = reviews.flatMap(({ t, critique }) => (critique ? [[t.id, critique] as const] : []));
  const retries = reviews.filter(({ retry }) => retry).length;
  return {
    ...experience,
    trajectories: [...experience.trajectories, ...further.map(({ t }) => t)],
    units: [...experience.units, ...further.map(({ t, group }) => ({ id: t.id, group, members: [t.id] }))],
    critiques: new Map([...(experience.critiques ?? []), ...said]),
    stats: {
      ...experience.stats,
      ...(reviews.length > 0 && { retries: retries / reviews.length }),
      ...stats,
    },
  };
}
