import { z } from "zod";
import type { Chat } from "../core/chat.ts";
import type { Able, EvaluatorCall } from "../core/evaluator.ts";
import type { Candidate } from "../core/rubrics.ts";
import { fenceFor } from "./fence.ts";

const compared = z.object({
  why: z.string().describe("one sentence"),
  first: z.number().min(0).max(1).describe("probability that reply 1 is the better one; 0.5 for a tie"),
});
const scored = z.object({
  why: z.string().describe("one sentence"),
  score: z.number().min(0).max(1).describe("probability that the reply is good"),
});

/**
 * A judge of replies that is a chat model of any provider, by a rubric in words: it compares two, shown one after the other,
 * or scores one. Requests and replies stand within a fence that they do not contain, so that no reply can pass for another one.
 * The reason comes before the number. Undefined where no answer fits. @throws WhetstoneError what the provider
 * throws, so that whoever asks can tell a failure from an answer that does not fit.
 */
export function chatPairJudge(
  chat: Pick<Chat, "id" | "ask">,
  rubric: string,
): Able<"compare" | "score", Candidate> {
  const ask = <T>(
    content: string,
    { random: { seed }, signal }: EvaluatorCall,
    schema: z.ZodType<T>,
  ): Promise<T | undefined> =>
    chat.ask({ messages: [{ role: "user", content }], seed, ...(signal && { signal }) }, schema);
  return {
    name: `chat judge ${chat.id}`,
    async compare(first, second, call) {
      const { told, around } = fenceFor([first.asked, first.reply, second.reply], call.random);
      const content = [
        `Which of two replies is better, by this rubric: ${rubric}`,
        told,
        `Asked:\n${around(first.asked)}`,
        `Reply 1:\n${around(first.reply)}`,
        `Reply 2:\n${around(second.reply)}`,
      ].join("\n\n");
      return (await ask(content, call, compared))?.first;
    },
    async score(items, call) {
      const said = await Promise.all(
        items.map(({ asked, reply }) => {
          const { told, around } = fenceFor([asked, reply], call.random);
          const content = [
            `Judge a reply by this rubric: ${rubric}`,
            told,
            `Asked:\n${around(asked)}`,
            `Reply:\n${around(reply)}`,
          ].join("\n\n");
          return ask(content, call, scored);
        }),
      );
      const known = said.filter((one) => one !== undefined);
      return known.length < items.length ? undefined : known.map(({ score }) => ({ score }));
    },
  };
}
