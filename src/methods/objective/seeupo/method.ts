import { groupNormalised } from "../../../advantage/groupNormalised.ts";
import { grpoSlots } from "../../../method/baseline.ts";
import { method } from "../../../method/method.ts";
import { clippedRatio } from "../../../objective/clippedRatio.ts";
import { klPenalty } from "../../../objective/klPenalty.ts";
import { turnByTurn } from "./turnByTurn.ts";

export const seeupo = method({
  id: "seeupo",
  family: "objective",
  summary: "updates turns from last to first, each against the already updated later turns",
  paper: "SeeUPO: Sequence-Level Agentic-RL with Convergence Guarantees",
  mechanism:
    "The turns of an episode are treated as a team of agents that are updated one after the other, the last one first. When a turn is updated, trajectories are weighted by the probability ratios of the later turns, so it learns against the new later behaviour, as in backward induction: a first move that failed only because of later turns is no longer penalised. Ratios are per turn, and advantages are not divided by the group's deviation, since that would break the convergence that the paper proves.",
  equation: [
    "A[i] = R[i] − mean of the group,   m[i] = 1",
    "for t = T … 1:   s = exp(mean over turn t of (logp − old)),   old: scored anew before the turn",
    "                 loss = −mean min(s · m[i] · A[i], clamp(s, 1 − ε, 1 + ε) · m[i] · A[i]) + 0.002 · KL(π ‖ reference)",
    "                 m[i] ← m[i] · s_new[i]",
  ].join("\n"),
  source:
    "coefficients from the paper's code; that code also clamps every s_new and m to [0.8, 1.2], which is left out here (ours): small tables take larger steps",
  frozen: { reference: {} },
  defaults: { minibatches: 1 },
  options: {
    kl: { help: "coefficient of the KL penalty towards the reference, per nat", default: 0.002, low: 0 },
  },
  slots: (s, o) => ({
    advantage: groupNormalised({ scale: "none" }),
    objective: [
      clippedRatio({ level: "turn", clip: { low: s.clipLow, high: s.clipHigh } }),
      klPenalty({ coefficient: o.kl }),
    ],
    update: turnByTurn({ each: grpoSlots(s).update }),
  }),
});
