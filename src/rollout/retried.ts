import type { Ctx } from "../core/context.ts";
import { withoutAdvice } from "../core/rewrite.ts";
import type { Message, Trajectory } from "../core/words.ts";

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
