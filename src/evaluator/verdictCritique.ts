import type { Able } from "../core/evaluator.ts";
import type { ModelId } from "../core/types.ts";
import { selfCritique } from "./selfCritique.ts";

/** Asks for a verdict and a critique. */
export const verdictQuestion = "Is this right? Say RIGHT or WRONG, then what to do otherwise.";

/** Whether a critique calls the attempt right; undefined where it says neither word, or both. */
export function verdictIn(text: string): boolean | undefined {
  const said = new Set(text.match(/\b(RIGHT|WRONG)\b/g));
  return said.size === 1 ? said.has("RIGHT") : undefined;
}

/** Settings of {@link verdictCritique}. */
export interface VerdictCritiqueOptions {
  /** Which of the run's models writes. Default "critic". */
  readonly model?: ModelId;
  /** Longest critique. Default 64. */
  readonly maxTokens?: number;
  /** Default 1. */
  readonly temperature?: number;
}

/**
 * One of the run's models says whether an attempt is right, RIGHT or WRONG, and what to do otherwise. Every text is a critique, so that all
 * of them can be trained; its outcome is the verdict, and absent where there is none.
 */
export function verdictCritique(options: VerdictCritiqueOptions = {}): Able<"critique"> {
  const { model = "critic", maxTokens = 64, temperature = 1 } = options;
  return selfCritique({
    model,
    maxTokens,
    temperature,
    question: verdictQuestion,
    read: (text) => {
      const right = verdictIn(text);
      return right === undefined ? { text } : { text, outcome: right ? "success" : "failure" };
    },
  });
}
