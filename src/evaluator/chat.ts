import { z } from "zod";
import { attributesOf } from "../common/text/quotedSpans.ts";
import { transcript } from "../common/text/transcript.ts";
import { type Chat, unlessFailed } from "../core/chat.ts";
import type { Critique } from "../core/critique.ts";
import type { Able, Attempt, EvaluatorCall } from "../core/evaluator.ts";

/** Settings of {@link chatCritiquer}. */
export interface ChatCritiquerOptions {
  /** Criteria of a good attempt, in words. */
  readonly instructions?: string;
  /** Whether the prompt contains the reference answer, with the instruction not to reveal it. Default false. */
  readonly showsReference?: boolean;
}

const written = z.object({
  outcome: z.enum(["success", "inefficient", "failure"]),
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
 * A critiquer that is a chat model of any provider: it reads the whole attempt and answers with an outcome, the first wrong
 * turn, quotes, and advice. Undefined where no answer fits after one repair, the named turn does not exist, or the provider
 * fails. A spent budget stops the run.
 */
export function chatCritiquer(chat: Chat, options: ChatCritiquerOptions = {}): Able<"critique"> {
  const critique = async (
    attempt: Attempt,
    { random: { seed }, signal }: EvaluatorCall,
  ): Promise<Critique | undefined> => {
    const { turns } = attempt.trajectory;
    const messages = [{ role: "user", content: question(attempt, options) }] as const;
    const said = await chat.ask({ messages, seed, ...(signal && { signal }) }, written).catch(unlessFailed);
    if (!said || (said.turn !== undefined && said.turn > turns.length)) return undefined;
    const quotes = [
      ...said.good.map((text) => ({ text, good: true })),
      ...said.poor.map((text) => ({ text, good: false })),
    ];
    return {
      text: said.advice,
      outcome: said.outcome,
      ...(said.turn === undefined ? {} : { turn: said.turn - 1 }),
      ...(quotes.length > 0 ? { marks: attributesOf(turns, quotes) } : {}),
    };
  };
  return { name: "chat critiquer", critique };
}

function question(
  { task: { reference }, trajectory }: Attempt,
  { instructions, showsReference }: ChatCritiquerOptions,
): string {
  return [
    "An agent tried a task. Judge the attempt and advise the agent for another try.",
    ...(instructions === undefined ? [] : [instructions]),
    ...(showsReference && reference !== undefined
      ? [`The right answer is "${reference}": use it to judge, and do not give it away.`]
      : []),
    transcript(trajectory),
  ].join("\n\n");
}
