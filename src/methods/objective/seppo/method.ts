import { preferencePairs } from "../../../advantage/preferencePairs.ts";
import { method } from "../../../method/method.ts";
import { pairwise } from "../../../objective/pairwise.ts";
import { withDemonstrations } from "../../../rollout/demonstrated.ts";
import { demonstrationsWin } from "./demonstrationsWin.ts";
import { pastSelf } from "./pastSelf.ts";
import { drawnFromPool, pool } from "./pool.ts";

/** Number of earlier policies that are kept. */
const size = 8;

export const seppo = method({
  id: "seppo",
  family: "objective",
  summary: "preference optimisation from demonstrations only; rivals come from earlier checkpoints",
  paper: "SePPO: Semi-Policy Preference Optimization for Diffusion Alignment",
  mechanism:
    "The data has demonstrations but no rejected replies. A checkpoint drawn from all earlier ones samples the other reply, partly on-policy, and serves as reference. Its reply need not be bad: only if the policy's likelihood of the demonstration exceeds that checkpoint's is the reply's likelihood lowered; otherwise both are raised.",
  equation: [
    "ref ~ uniform over the policies of all iterations so far;   y_r ~ ref",
    "W = ln π(y_w)/ref(y_w),   R = ln π(y_r)/ref(y_r)               y_w: demonstration",
    "loss = −mean over pairs of ln σ(β (W − s R)),   s = +1 if W ≥ 0, else −1, without gradient       β = 0.3",
  ].join("\n"),
  source:
    "after the abstract, for texts in place of images: β, the tie rule and eight checkpoints kept at random are ours",
  baseline: "sft",
  defaults: { epochs: 8, minibatches: 1 },
  frozen: pool(size),
  learnsFrom: { kind: "pair" },
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
