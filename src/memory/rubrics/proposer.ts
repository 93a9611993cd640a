import { z } from "zod";
import { type Chat, unlessFailed } from "../../core/chat.ts";
import type { Candidate } from "../../core/rubrics.ts";
import type { Proposer } from "./evolve.ts";
import type { JudgedPair } from "./orders.ts";

/** Settings of {@link chatProposer}. */
export interface ChatProposerOptions {
  /** Number of wrongly and of rightly judged pairs to show. Default 5. */
  readonly shown?: number;
}

const written = z.object({
  analysis: z.string().describe("what the judge overlooked or overrated, in two sentences"),
  edits: z
    .array(
      z.discriminatedUnion("kind", [
        z.object({
          kind: z.literal("add"),
          rubric: z.object({
            id: z.string().regex(/^[a-z][a-z0-9-]*$/),
            kind: z.enum(["skill", "tool"]),
            text: z.string().min(1),
          }),
        }),
        z.object({ kind: z.literal("modify"), id: z.string(), text: z.string().min(1) }),
        z.object({ kind: z.literal("delete"), id: z.string() }),
      ]),
    )
    .max(3),
});

/**
 * A language model reads pairs that the judge got wrong and right, and proposes up to three edits of the library. A reply that
 * does not fit after one repair, or a provider failure, gives no proposal. A spent budget stops the run.
 */
export function chatProposer(chat: Chat, { shown = 5 }: ChatProposerOptions = {}): Proposer<Candidate> {
  return async ({ library, judged, random }) => {
    const wrong = judged.filter(({ lead }) => lead <= 0).slice(0, shown);
    const right = judged.filter(({ lead }) => lead > 0).slice(0, shown);
    const content = [
      "A judge compares replies by a library of skills (criteria in words) and tools (prompts of analysers, whose findings it reads). Improve the library with as few edits as you can.",
      `The library:\n${JSON.stringify(library.rubrics, undefined, 2)}`,
      `Judged otherwise than people do:\n${wrong.map(shownPair).join("\n\n") || "none"}`,
      `Judged as people do:\n${right.map(shownPair).join("\n\n") || "none"}`,
      "Skills must hold for any reply: words of single replies are refused.",
    ].join("\n\n");
    const request = { messages: [{ role: "user", content }], seed: random.seed } as const;
    const said = await chat.ask(request, written).catch(unlessFailed);
    return said?.edits ?? [];
  };
}

const shownPair = ({ pair: { better, worse } }: JudgedPair<Candidate>): string =>
  `Asked: ${better.asked}\nPreferred by people: ${better.reply}\nNot preferred: ${worse.reply}`;
