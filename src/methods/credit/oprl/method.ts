import { leaveOneOut } from "../../../advantage/leaveOneOut.ts";
import { outcomePairs } from "../../../advantage/outcomePairs.ts";
import { returnsToGo } from "../../../advantage/returnsToGo.ts";
import { perTurn } from "../../../credit/perTurn.ts";
import { outcome } from "../../../feedback/outcome.ts";
import { method } from "../../../method/method.ts";
import { clippedRatio } from "../../../objective/clippedRatio.ts";
import { pairwise } from "../../../objective/pairwise.ts";
import { implicitRewards } from "./implicitRewards.ts";

export const oprl = method({
  id: "oprl",
  family: "credit",
  summary: "derives step rewards from an implicit reward model trained on pairs of trajectories",
  paper: "Online Process Reward Leanring for Agentic Reinforcement Learning",
  mechanism:
    "A copy of the policy is trained alongside it to prefer the better trajectories of a group over the worse ones. Its log-ratio to the sampling policy, summed over a turn, is that turn's reward; neither step labels nor further rollouts are needed. Each step is compared with all steps of its group, and the result is added to the usual advantage of the episode.",
  equation: [
    "r_t = β Σ_tokens ln π_φ − ln π_old                       β = 0.05, before φ is updated",
    "A = R − mean of the others' R  +  α · (r_t − mean of the group's other turns)        α = 1",
    "loss of φ = mean over pairs of −ln σ(Σ_t r⁺_t − Σ_t r⁻_t)",
  ].join("\n"),
  source:
    "constants from the paper and its code; margins are sums over turns as in the paper, where the code takes means; policy and reward model step on the same minibatches (ours)",
  baseline: "rloo",
  models: { prm: { from: "policy" } },
  needs: ["fork"],
  options: {
    beta: { help: "β, implicit reward per nat of log-ratio", default: 0.05, low: 1e-6, high: 1e6 },
  },
  slots: ({ clipLow: low, clipHigh: high }, { beta }) => ({
    feedback: [outcome({ rewards: ["outcome"] }), implicitRewards({ beta })],
    credit: perTurn(),
    advantage: [
      leaveOneOut({ channels: ["outcome"] }),
      returnsToGo({ channels: ["implicit"], discount: 0, baseline: "group", leaveOneOut: true }),
      outcomePairs({ channels: ["outcome"] }),
    ],
    objective: [
      clippedRatio({ clip: { low, high } }),
      pairwise({ model: "prm", beta, against: { sampled: 1 } }),
    ],
  }),
});
