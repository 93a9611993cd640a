import { WhetstoneError } from "../core/errors.ts";
import type { Annotate } from "../core/slots.ts";
import { answerLikelihoods } from "./likelihoods.ts";

/** Settings of {@link goldLikelihood}. */
export interface GoldLikelihoodOptions {
  /** The text before an answer in the environment's format; its tokens are not scored. Default "answer". */
  readonly opening?: string;
  /** Default "gold". */
  readonly note?: string;
}

/**
 * Per-token likelihood of the reference answer under the current policy, before each of its turns:
 *
 *     P[k] = exp( (1/|y|) Σ_j ln π(y[j] | prompt of turn k, opening, y[<j]) )       y: the task's reference
 *
 * P[0] is conditioned on the task alone; P[k + 1] also on turn k and the environment's reply to it. One model call scores
 * all turns of all trajectories, each distinct context once. There is no value after the last turn, since no prompt contains
 * its reply. NaN where the answer does not fit the model's context. Failed episodes get no note.
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
          expected: "a reference answer for every task",
          fix: "Choose an environment whose tasks have a reference, or a method that needs none.",
        });
      });
    const model = ctx.model();
    return { [note]: await answerLikelihoods(model, asked, opening, model.contextTokens) };
  };
}
