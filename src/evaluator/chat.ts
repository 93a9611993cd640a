import { z } from "zod";
import { attributesOf } from "../common/text/quotedSpans.ts";
import { transcript } from "../common/text/transcript.ts";
import { type Chat, unlessFailed } from "../core/chat.ts";
import type { Critiquer } from "../core/critiquer.ts";
import type { Task, Trajectory } from "../core/types.ts";

/** Settings of {@link chatCritiquer}. */
export interface ChatCritiquerOptions {
  /** Criteria of a good attempt, in words. */
  readonly instructions?: string;
  /** Whether the critic's prompt contains the reference answer, with the instruction not to reveal it. Default false. */
  readonly showsReference?: boolean;
}

const written = z.object({
  verdict: z.enum(["success", "inefficient", "failure"]),
  turn: z.int().min(1).optional().describe("number of the first turn to do otherwise, from 1"),
  good: z
    .array(z.string())
    .default([])
    .describe("words of the agent that are right, exactly as they stand there"),
  poor: z
    .array(z.string())
    .default([])
    .describe("words of the agent that are wrong, exactly as they stand there"),
  advice: z.string().min(1).describe("what to do otherwise, said to the agent"),
});

/**
 * A critic that is a chat model of any provider: it reads the whole attempt and answers with a verdict, the first wrong
 * turn, quotes, and advice. An answer that does not fit after one repair, a turn that does not exist, or a provider failure
 * gives no critique and counts under "judge.failures". A spent budget stops the run.
 */
export function chatCritiquer(chat: Chat, options: ChatCritiquerOptions = {}): Critiquer {
  return async (ctx, t, random) => {
    if (t.turns.length === 0) return undefined;
    ctx.count("judge.calls", 1);
    const asked = question(ctx.task(t.task), t, options);
    const said = await chat
      .ask({ messages: [{ role: "user", content: asked }], seed: random.seed }, written)
      .catch(unlessFailed);
    if (!said || (said.turn !== undefined && said.turn > t.turns.length)) {
      ctx.count("judge.failures", 1);
      return undefined;
    }
    const quotes = [
      ...said.good.map((text) => ({ text, good: true })),
      ...said.poor.map((text) => ({ text, good: false })),
    ];
    return {
      text: said.advice,
      outcome: said.verdict,
      ...(said.turn === undefined ? {} : { turn: said.turn - 1 }),
      ...(quotes.length > 0 ? { marks: attributesOf(t.turns, quotes) } : {}),
    };
  };
}

function question(task: Task, t: Trajectory, { instructions, showsReference }: ChatCritiquerOptions): string {
  const { reference } = task;
  return [
    "An agent tried a task. Judge the attempt and advise the agent for another try.",
    ...(instructions === undefined ? [] : [instructions]),
    ...(showsReference && reference !== undefined
      ? [`The right answer is "${reference}": use it to judge, and do not give it away.`]
      : []),
    transcript(t),
  ].join("\n\n");
}
