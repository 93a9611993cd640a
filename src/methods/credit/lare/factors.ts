/** Performance factors: a few numbers per turn, read from the environment's messages. */
import type { Turn } from "../../../core/types.ts";

/**
 * Counts each pattern in the environment's messages about a turn, with a constant `turn` of 1. Patterns are plain data,
 * so a language model may write them without any of its code being run.
 * Paper: "Latent Reward: LLM-Empowered Credit Assignment in Episodic Reinforcement Learning".
 */
export function patternFactors(
  patterns: Readonly<Record<string, RegExp>>,
): (turn: Turn) => Readonly<Record<string, number>> {
  const all = Object.entries(patterns).map(
    ([name, { source, flags }]) =>
      [name, new RegExp(source, flags.includes("g") ? flags : `${flags}g`)] as const,
  );
  return ({ text = "" }) => ({
    turn: 1,
    ...Object.fromEntries(all.map(([name, pattern]) => [name, [...text.matchAll(pattern)].length])),
  });
}

/** Counts every word of the environment's messages about a turn, with a constant `turn` of 1. */
export function wordFactors({ text = "" }: Turn): Readonly<Record<string, number>> {
  const out: Record<string, number> = { turn: 1 };
  for (const word of text.split(/\s+/)) if (word !== "") out[`word ${word}`] = (out[`word ${word}`] ?? 0) + 1;
  return out;
}

/** Common words of environments for success and harm. */
export const usualPatterns: Readonly<Record<string, RegExp>> = {
  gain: /\b(found|done|correct|opened|light|success\w*)\b/i,
  harm: /\b(error|invalid|cannot|wrong|bump|fail\w*)\b/i,
  idle: /\bnothing happen(s|ed)\b/i,
};
