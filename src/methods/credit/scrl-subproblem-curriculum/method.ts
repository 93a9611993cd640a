import { turnRewards } from "../../../feedback/turnRewards.ts";
import { method } from "../../../method/method.ts";
import { longestPrefix } from "./longestPrefix.ts";
import { positionNormalised } from "./positionNormalised.ts";

export const scrlSubproblemCurriculum = method({
  id: "scrl-subproblem-curriculum",
  family: "credit",
  summary:
    "verifies sub-problems within one rollout and compares each answer with the group's at its position",
  paper:
    "From Reasoning Chains to Verifiable Subproblems: Curriculum Reinforcement Learning Enables Credit Assignment for LLM Reasoning",
  mechanism:
    "A hard problem is asked together with the sub-problems that lead to it, and all are answered in one rollout. An answer counts only if it and every earlier one are right, and is compared only with the group's answers at the same position. Early positions have mixed outcomes long before the last one does, so there is a gradient even while the problem itself is still too hard.",
  equation: [
    "c[i,k] in {0, 1}: whether rollout i answers sub-problem k rightly",
    "r[i,k] = Π_{j ≤ k} c[i,j]",
    "A[i,k] = (r[i,k] − mean_i r[i,k]) / std_i r[i,k]      on the tokens of answer k alone",
  ].join("\n"),
  source:
    "formulas from the paper; the floor of the deviation is ours; the environment pays `step` for every verified answer",
  slots: {
    feedback: turnRewards({ rewards: ["step"], channel: "step" }),
    credit: longestPrefix(),
    advantage: positionNormalised(),
  },
});
