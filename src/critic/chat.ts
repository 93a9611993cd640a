import { z } from "zod";
import { marksOf } from "../common/text/quotedSpans.ts";
import { transcript } from "../common/text/transcript.ts";
import { type Chat, unlessFailed } from "../core/chat.ts";
import type { Critic } from "../core/critic.ts";
import type { Task, Trajectory } from "../core/types.ts";

/** Settings of {@link chatCritic}. */
export interface ChatCriticOptions {
  /** What makes an attempt good, in words. */
  readonly instructions?: string;
  /** Whether it is shown the task's reference answer, which it is told not to give away. Default false. */
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
 * A critic behind any provider: it reads the whole attempt and answers with a verdict, the turn to go back to, quotes, and
 * advice. An answer that does not fit after one repair, a turn that is not there, or a provider that fails is silence:
 * counted under "judge.failures". An empty purse ends the run.
 */
export function chatCritic(chat: Chat, options: ChatCriticOptions = {}): Critic {
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
      verdict: said.verdict,
      ...(said.turn === undefined ? {} : { turn: said.turn - 1 }),
      ...(quotes.length > 0 ? { marks: marksOf(t.turns, quotes) } : {}),
    };
  };
}

function question(task: Task, t: Trajectory, { instructions, showsReference }: ChatCriticOptions): string {
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
