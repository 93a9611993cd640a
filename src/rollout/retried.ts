/** Second attempts: what the rollouts that try again have in common. */

import { withoutAdvice } from "../common/tokens/rewrite.ts";
import type { Ctx } from "../core/context.ts";
import type { Critic } from "../core/critic.ts";
import type { Critique } from "../core/critique.ts";
import type { Experience } from "../core/slots.ts";
import type { Id, Message, Stats, Trajectory } from "../core/types.ts";

/** How a task is tried again. */
export interface Retry {
  /** Said before the first new action. */
  readonly advice: string | readonly Message[];
  /** The earlier attempt's turns that are replayed as they were; 0 begins anew. Held within the attempt. */
  readonly turn: number;
  /** A number of its own for the new episode, among those of its task and iteration. */
  readonly attempt: number;
  /** Default 1. */
  readonly temperature?: number;
}

/** A second attempt, and the same actions as if nobody had advised it. Both name the first one as their parent. */
export interface Retried {
  readonly advised: Trajectory;
  /** Re-rendered: its log-probabilities are unknown until somebody scores them. */
  readonly plain: Trajectory;
}

/**
 * Tries a task again, from its beginning or from a turn of an earlier attempt on, with advice in the context. Replayed
 * turns keep the tokens that they had. A restart in mid-episode needs an environment that can replay.
 * @returns undefined where there was nothing to try again, or the new episode failed.
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

/** How attempts are criticised and tried again. */
export interface Review {
  readonly critic: Critic;
  /** Names the critic's random streams. */
  readonly stream: string;
  /** Which attempts are criticised. Default: all. */
  readonly of?: (t: Trajectory) => boolean;
  /** What follows a critique; undefined where it is not tried again. */
  readonly retry: (critique: Critique, t: Trajectory) => Omit<Retry, "attempt"> | undefined;
}

/** An attempt, what was said of it, and what came of trying again. */
export interface Reviewed {
  readonly t: Trajectory;
  readonly group: Id;
  readonly critique: Critique | undefined;
  readonly retry: Retried | undefined;
}

/** Has every attempt that is compared in an experience criticised, and tries again; all at once. */
export async function reviewed(
  ctx: Ctx,
  experience: Experience,
  review: Review,
): Promise<readonly Reviewed[]> {
  const { trajectories, units } = experience;
  const groupOf = new Map(units.flatMap(({ members, group }) => members.map((m) => [m, group])));
  const attempts = trajectories.flatMap((t) => {
    const group = groupOf.get(t.id);
    return group === undefined ? [] : [{ t, group }];
  });
  return Promise.all(
    attempts.map(async ({ t, group }, i): Promise<Reviewed> => {
      const critique =
        (review.of?.(t) ?? true)
          ? await review.critic(ctx, t, ctx.random.split(review.stream, t.id))
          : undefined;
      const again = critique && review.retry(critique, t);
      const retry = again && (await retried(ctx, t, { ...again, attempt: trajectories.length + i }));
      return { t, group, critique, retry };
    }),
  );
}

/**
 * An experience with what its reviews brought: further trajectories, each a unit in the group named, and the critiques.
 * Stats: those given, and retries per attempt.
 */
export function withReviews(
  experience: Experience,
  reviews: readonly Reviewed[],
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
