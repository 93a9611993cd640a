/** The format in which a model writes a critique, and its strict parser. */

import { attributesOf, type Quote } from "../common/text/quotedSpans.ts";
import type { Critique } from "../core/critique.ts";
import type { Trajectory } from "../core/types.ts";

/** Asks for a critique in the form that {@link readCritique} reads. */
export const critiqueQuestion = `How did this attempt go? Reply in lines of this form and with nothing else:
outcome: success, inefficient or failure
turn: the number of the first turn to do otherwise, from 1, if there is one
good: words of an answer that are right, exactly as they stand there; as many lines as you like
poor: words of an answer that are wrong, exactly as they stand there; as many lines as you like
advice: one line on what to do otherwise`;

const outcomes = ["success", "inefficient", "failure"] as const;

/**
 * Parses a critique from text in the line format of {@link critiqueQuestion}. It must have exactly one outcome; a turn must
 * be one of the attempt's; a line of any other kind, or a second outcome, turn or advice, makes the critique invalid.
 * Quotes that do not occur in the attempt are dropped. The text for a policy is the advice, or the whole reply without one.
 */
export function readCritique(text: string, { turns }: Trajectory): Critique | undefined {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  const once = new Map<string, string>();
  const quotes: Quote[] = [];
  for (const line of lines) {
    const [, key, value] = /^\s*(outcome|turn|good|poor|advice)\s*:\s*(\S.*?)\s*$/i.exec(line) ?? [];
    if (key === undefined || value === undefined) return undefined;
    const name = key.toLowerCase();
    if (name === "good" || name === "poor") quotes.push({ text: unquoted(value), good: name === "good" });
    else if (once.has(name)) return undefined;
    else once.set(name, value);
  }
  const outcome = outcomes.find((v) => v === once.get("outcome")?.toLowerCase());
  const turn = once.get("turn");
  if (outcome === undefined) return undefined;
  if (turn !== undefined && !(/^\d+$/.test(turn) && Number(turn) >= 1 && Number(turn) <= turns.length))
    return undefined;
  return {
    text: once.get("advice") ?? text.trim(),
    outcome,
    ...(turn !== undefined && { turn: Number(turn) - 1 }),
    ...(quotes.length > 0 && { marks: attributesOf(turns, quotes) }),
  };
}

const unquoted = (text: string): string => /^(["'“‘])(.+)(["'”’])$/.exec(text)?.[2] ?? text;
