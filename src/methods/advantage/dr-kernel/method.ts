import { masked } from "../../../advantage/masked.ts";
import { returnsToGo } from "../../../advantage/returnsToGo.ts";
import { perTurn } from "../../../credit/perTurn.ts";
import { turnRewards } from "../../../feedback/turnRewards.ts";
import { method } from "../../../method/method.ts";
import { clippedRatio } from "../../../objective/clippedRatio.ts";
import { mismatchRejected } from "./mismatchRejected.ts";
import { profilingRejection } from "./profilingRejection.ts";

export const drKernel = method({
  id: "dr-kernel",
  family: "advantage",
  summary:
    "leave-one-out returns per turn; a profiler's coverage is rewarded, low-coverage answers are dropped",
  paper: "Dr. Kernel: Reinforcement Learning Done Right for Triton Kernel Generations",
  mechanism:
    "Where an answer is refined over turns, groups shrink as episodes end. A mean that includes the sample itself then scales the gradient by 1 − 1/N, differently at each turn; the mean over the others at the same turn is unbiased. To discourage answers that are correct but do little of the work, the share of the runtime spent in the agent's own code is rewarded as well, and correct answers with low coverage are dropped at random, so they are not reinforced. Wrong answers are always kept.",
  equation: [
    "G[i,k] = Σ_{j ≥ k} r[i,j],   A[i,k] = G[i,k] − mean of G[j,k] over the others still playing at turn k",
    "r = outcome + ½ coverage                                        coverage: measured for right answers only",
    "a right turn is kept with P = clamp((coverage − 0.3) / 0.1, 0, 1)",
    "an episode is kept where exp(mean ln p_train/p_sampler) is in [0.999, 1.001] and no ratio is below 1e-4",
    "loss = −mean over tokens of min(ρ A, clamp(ρ, 0.8, 1.28) A)",
  ].join("\n"),
  source:
    "weights, thresholds and bounds from the paper's code; a return without others at its turn has baseline 0",
  defaults: { groupSize: 16, clipHigh: 0.28 },
  options: {
    coverage: { help: "weight of the profiler's coverage beside the outcome", default: 0.5, low: 0 },
  },
  slots: (s, o) => ({
    annotate: profilingRejection(),
    feedback: turnRewards({ rewards: ["outcome", "coverage"], weights: { coverage: o.coverage } }),
    credit: perTurn(),
    advantage: [returnsToGo({ leaveOneOut: true }), masked({ note: "kept" }), mismatchRejected()],
    objective: clippedRatio({ clip: { low: s.clipLow, high: s.clipHigh } }),
  }),
});
