import { z } from "zod";
import { transcript } from "../common/text/transcript.ts";
import { type Chat, unlessFailed } from "../core/chat.ts";
import type { Ctx } from "../core/context.ts";
import type { Trajectory } from "../core/types.ts";

const written = z.object({
  why: z.string().describe("one sentence"),
  score: z.number().min(0).max(1).describe("0: worthless, 1: could not be better"),
});

/**
 * A judge behind any provider, in the form that `judged` takes: a score in [0, 1] by a rubric in words. Reasons come
 * before the number. Undefined where no answer fits, or the provider fails; each call has a seed of its own.
 */
export function chatJudge(
  chat: Chat,
  rubric: string,
): (ctx: Ctx, trajectory: Trajectory, call: number) => Promise<number | undefined> {
  return async (ctx, t, call) => {
    const content = `Judge what an agent did, by this rubric: ${rubric}\n\n${transcript(t)}`;
    const { seed } = ctx.random.split("judge", t.id, call);
    const said = await chat.ask({ messages: [{ role: "user", content }], seed }, written).catch(unlessFailed);
    return said?.score;
  };
}
