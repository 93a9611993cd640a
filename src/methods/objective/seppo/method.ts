import { preferencePairs } from "../../../advantage/preferencePairs.ts";
import { method } from "../../../method/method.ts";
import { pairwise } from "../../../objective/pairwise.ts";
import { withDemonstrations } from "../../../rollout/demonstrated.ts";
import { demonstrationsWin } from "./demonstrationsWin.ts";
import { pastSelf } from "./pastSelf.ts";
import { drawnFromPool, pool } from "./pool.ts";

/** Earlier policies that are kept. */
const size = 8;

export const seppo = method({
  id: "seppo",
  family: "objective",
  summary: "preferences from winners alone: an earlier self gives the other side, an anchor says which",
  paper: "SePPO: Semi-Policy Preference Optimization for Diffusion Alignment",
  mechanism:
    "There are demonstrations, and nothing that lost to them. A checkpoint drawn from all earlier ones replies as well, partly on-policy, and serves as reference. Its reply need not be bad: only if the policy already likes the demonstration better than that checkpoint did is the reply pushed down; if not, it is still a hint, and both are raised.",
  equation: [
    "ref ~ uniform over the policies of all iterations so far;   y_r ~ ref",
    "W = ln π(y_w)/ref(y_w),   R = ln π(y_r)/ref(y_r)               y_w: demonstration",
    "loss = −mean over pairs of ln σ(β (W − s R)),   s = +1 if W ≥ 0, else −1, without gradient       β = 0.3",
  ].join("\n"),
  source:
    "after the abstract, for texts in place of images: β, the tie and eight checkpoints kept at random are ours",
  baseline: "sft",
  defaults: { epochs: 8, minibatches: 1 },
  frozen: pool(size),
  slots: ({ groupSize, temperature }) => ({
    rollout: withDemonstrations(pastSelf({ size, groupSize, temperature }), { perTask: 1 }),
    feedback: demonstrationsWin(),
    advantage: preferencePairs(),
    objective: pairwise({
      model: "policy",
      beta: 0.3,
      rejected: "anchored",
      against: (ctx) => ({ [drawnFromPool(ctx, size)]: 1 }),
    }),
  }),
});
