import { WhetstoneError } from "../core/errors.ts";
import type { Annotate } from "../core/slots.ts";
import { answerLikelihoods } from "./likelihoods.ts";

/** Settings of {@link goldLikelihood}. */
export interface GoldLikelihoodOptions {
  /** How an answer begins in the environment's language; its tokens are not counted. Default "answer". */
  readonly opening?: string;
  /** Default "gold". */
  readonly note?: string;
}

/**
 * How likely the policy as it is finds the reference answer before each of its turns, per token:
 *
 *     P[k] = exp( (1/|y|) Σ_j ln π(y[j] | prompt of turn k, opening, y[<j]) )       y: the task's reference
 *
 * P[0] knows the task alone; P[k + 1] knows also turn k and what the environment said to it. All turns of all
 * trajectories are one call of the model, each distinct context once. Nothing is known after the last turn, whose reply
 * no prompt holds. NaN where the answer would not fit the model's context. Failed episodes get no note.
 * Paper: "Information Gain-based Policy Optimization: A Simple and Effective Approach for Multi-Turn LLM Agents".
 */
export function goldLikelihood({ opening = "answer", note = "gold" }: GoldLikelihoodOptions = {}): Annotate {
  return async (ctx, { trajectories }) => {
    const asked = trajectories
      .filter((t) => t.end.kind !== "failed" && t.turns.length > 0)
      .map((trajectory) => {
        const { id, reference } = ctx.task(trajectory.task);
        if (reference !== undefined) return { trajectory, answers: [reference] };
        throw new WhetstoneError("config.invalid", {
          where: "goldLikelihood",
          got: `task "${id}" without a reference`,
          expected: "the right answer of every task",
          mend: "Choose an environment whose tasks have a reference, or a method that needs none.",
        });
      });
    const model = ctx.model();
    return { [note]: await answerLikelihoods(model, asked, opening, model.contextTokens) };
  };
}
