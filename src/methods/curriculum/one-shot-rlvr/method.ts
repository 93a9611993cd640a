import { method } from "../../../method/method.ts";
import { clippedRatio } from "../../../objective/clippedRatio.ts";
import { entropyBonus } from "../../../objective/entropyBonus.ts";
import { klPenalty } from "../../../objective/klPenalty.ts";
import { mostVarying } from "./mostVarying.ts";

export const oneShotRlvr = method({
  id: "one-shot-rlvr",
  family: "curriculum",
  summary: "trains on the one task whose success varied most over a short run on all tasks",
  paper: "Reinforcement Learning for Reasoning in Large Language Models with One Training Example",
  mechanism:
    "A short run on the pool of tasks records each task's mean reward per pass. The task whose mean varied most is then repeated to fill every batch: fresh attempts at the same prompt supply the variety, and an entropy bonus keeps it. What the task teaches carries over to others, also after it is solved itself.",
  equation: [
    "v_i = variance over passes e of s[i,e],  s[i,e]: mean reward of task i's attempts in pass e",
    "afterwards every batch repeats the k tasks of the largest v_i",
    "loss = clipped surrogate + β KL(π ‖ π_ref) − α H",
  ].join("\n"),
  source:
    "ranking by variance over passes, repetition and the three terms from the paper; β = α = 0.001 are reconstructed. The policy goes on from the short run, where the paper starts again from the first policy",
  needs: ["entropy"],
  frozen: { reference: {} },
  options: {
    passes: { help: "passes over all tasks before the choice", default: 5, low: 2, whole: true },
    kept: { help: "k, tasks that are kept", default: 1, low: 1, whole: true },
    rank: {
      help: "which tasks are kept; the others are for comparison",
      default: "most varying",
      oneOf: ["most varying", "least varying", "random"],
    },
    kl: { help: "β, weight of the divergence from the first policy", default: 0.001, low: 0, high: 100 },
    entropy: { help: "α, weight of the entropy bonus", default: 0.001, low: 0, high: 100 },
  },
  slots: ({ tasks, clipLow, clipHigh }, { passes, kept, rank, kl, entropy }) => ({
    data: mostVarying({ tasks, passes, kept, rank }),
    objective: [
      clippedRatio({ clip: { low: clipLow, high: clipHigh } }),
      klPenalty({ coefficient: kl }),
      entropyBonus({ coefficient: entropy }),
    ],
  }),
});
