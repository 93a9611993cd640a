import { constant } from "../../../advantage/constant.ts";
import { rejectionSampled } from "../../../advantage/rejectionSampled.ts";
import { method } from "../../../method/method.ts";
import { policyGradient } from "../../../objective/policyGradient.ts";
import { likelihoodRegression } from "./likelihoodRegression.ts";
import { baseSampled, selfLikelihood } from "./selfLikelihood.ts";

export const sharpening = method({
  id: "sharpening",
  family: "self-play",
  summary:
    "imitates the one of N own samples that the first policy finds likeliest; nobody says what is right",
  paper: "Self-Improvement in Language Models: The Sharpening Mechanism",
  mechanism:
    "Without any feedback from outside, a policy can put its probability on the answers that it already finds likeliest: a search at inference is paid once, in training. The first policy, frozen, samples N answers and judges them by their log-probability; the likeliest is imitated. Or the policy's log-ratios are regressed on differences of those log-probabilities. It concentrates what is there and adds no knowledge; N has to be of the order of 1 over the probability of the likeliest answer.",
  equation: [
    "r(x, y) = ln π_base(y | x),   Y*(x) = argmax_y r(x, y)          summed over tokens, π_base frozen",
    "imitation:   y_1 … y_N ~ π_base,   loss = −mean over tokens of ln π(y_best),   y_best = argmax_i r(x, y_i)",
    "regression:  loss = mean over pairs of (Δ ln π − (1 + 1/β) Δ ln π_base)²      its minimum: π ∝ π_base^(1 + 1/β)",
    "coverage = E_x[1/π_base(Y*(x) | x)]",
  ].join("\n"),
  source:
    "the self-reward and best-of-N imitation from summaries of the paper, the regression reconstructed and divided by β². The variant that samples from the policy itself with a bonus for exploring is left out. N = 64 is ours; it is the group size",
  frozen: { reference: {} },
  needs: ["freeze"],
  defaults: { groupSize: 64, minibatches: 1 },
  options: {
    by: {
      help: "imitates the likeliest of the group, or regresses on pairs of it",
      default: "imitation",
      oneOf: ["imitation", "regression"],
    },
    beta: {
      help: "β of the regression, penalty per nat away from the first policy",
      default: 0.1,
      low: 1e-3,
    },
  },
  slots: ({ groupSize, temperature }, { by, beta }) => ({
    rollout: baseSampled({ groupSize, temperature }),
    feedback: selfLikelihood(),
    advantage: by === "imitation" ? rejectionSampled({ keep: { best: 1 } }) : constant(),
    objective: by === "imitation" ? policyGradient({ model: "policy" }) : likelihoodRegression(beta),
  }),
});
