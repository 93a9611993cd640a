import { z } from "zod";
import { transcript } from "../common/text/transcript.ts";
import { type Chat, unlessFailed } from "../core/chat.ts";
import { type Able, type Attempt, scorer } from "../core/evaluator.ts";
import { fenceFor } from "./fence.ts";

const written = z.object({
  why: z.string().describe("one sentence"),
  score: z.number().min(0).max(1).describe("0: worthless, 1: could not be better"),
});

/**
 * A judge that is a chat model of any provider: a score in [0, 1] by a rubric in words. The transcript stands within a
 * fence that it does not contain. The reason comes before the score.
 * Undefined where no answer fits, or the provider fails.
 */
export function chatJudge(chat: Chat, rubric: string): Able<"score"> {
  return scorer<Attempt>("chat judge", async ({ trajectory }, { random, signal }) => {
    const shown = transcript(trajectory);
    const { told, around } = fenceFor([shown], random);
    const content = `Judge what an agent did, by this rubric: ${rubric}\n\n${told}\n\n${around(shown)}`;
    const messages = [{ role: "user", content }] as const;
    const said = await chat
      .ask({ messages, seed: random.seed, ...(signal && { signal }) }, written)
      .catch(unlessFailed);
    return said?.score;
  });
}
