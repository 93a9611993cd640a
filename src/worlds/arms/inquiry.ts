/** Shared by checks on information gain: an agent that can use its findings, but does not know what to query. */
import { type Prior, tabularEngine } from "../../engine/tabular/engine.ts";
import type { Recipe } from "../../method/method.ts";
import { type TrainingArm, trainingArm } from "../../train/trainingArm.ts";
import { fits, type InquiryOptions, inquiry } from "../inquiry.ts";

/**
 * Queries and answering are initially equally likely; an answer that fits the findings is e⁶ times as likely as one that
 * does not. So the likelihood of the right answer measures how much is known, and the right queries have to be learnt.
 */
export function readerPrior(options: InquiryOptions): Prior {
  return (context, word) => {
    const said = context.slice(1, context.indexOf("<end>"));
    const [begun] = context.slice(context.indexOf("<assistant>") + 1);
    if (begun === undefined) return word === "answer" || /^q\d/.test(word) ? 0 : never;
    if (begun !== "answer") return word === "<end>" ? 0 : never;
    if (!/^a\d/.test(word)) return never;
    return said[0] === "known" && fits(word, said.slice(1), options) ? 6 : 0;
  };
}

const never = -1e9;

/** An arm that trains in the inquiry world with these settings. */
export const inquirer =
  (options: InquiryOptions, shared: Omit<TrainingArm, "recipe" | "environment" | "engine">) =>
  (recipe: Recipe, more: Partial<TrainingArm> = {}) =>
    trainingArm({
      environment: (seed) => inquiry({ ...options, seed }),
      engine: () => tabularEngine({ context: "message", prior: readerPrior(options) }),
      ...shared,
      recipe,
      ...more,
    });
