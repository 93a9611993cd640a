import { method } from "../../../method/method.ts";
import { clippedRatio } from "../../../objective/clippedRatio.ts";
import { instruction } from "./metaReward.ts";
import { predictAndSolve, selfAlignment } from "./predictAndSolve.ts";

export const masaMetaAwareness = method({
  id: "masa-meta-awareness",
  family: "self-play",
  summary: "predicts its own pass rate and length, is paid for being right, and skips what is foregone",
  paper: "Meta-Awareness Enhances Reasoning Models: Self-Alignment Reinforcement Learning",
  mechanism:
    "Before it solves a task, the policy says how many attempts will be right, how long a right one is and what it will use. The attempts of the same iteration are the labels of these predictions, so that nothing but correctness is needed from outside. Attempts and predictions are two groups of the same policy. Once predictions have been trained for a while, tasks of which all attempts are expected to end alike are skipped, since such a group gives no gradient, and attempts far beyond the expected length are cut.",
  equation: [
    "r_rate = 0.01^|p̂ − p|,   r_length = 1[shortest right < l̂ < longest right]",
    "r_notions = share of notions, not in the task, that more right than wrong attempts contain",
    "r = (r_rate + r_length + r_notions)/3;   A = (r − mean r)/std r over a task's predictions, and over its attempts",
    "skipped: mean p̂ ≤ 1/16 or ≥ 15/16, deviation below 1/8;   cut at 2 · mean l̂",
  ].join("\n"),
  source:
    "the three rewards, separate groups, clips of 0.2 and 0.28 and no KL from the paper's code; skipping and cutting are reconstructed, and a tenth of what would be skipped is played all the same (ours). Imitation of the best predictions with their numbers corrected is left out, and so are its steps; 20 iterations of warm-up are ours",
  says: [instruction],
  defaults: { clipHigh: 0.28 },
  options: {
    predictions: { help: "predictions of each task", default: 8, low: 1, high: 1e4, whole: true },
    metaWarmUp: { help: "iterations before predictions skip and cut", default: 20, low: 0, whole: true },
    recheck: { help: "probability of playing what would be skipped", default: 0.1, low: 0, high: 1 },
    cutoff: {
      help: "multiple of the predicted length at which attempts are cut",
      default: 2,
      low: 0.1,
      high: 1e6,
    },
  },
  slots: ({ groupSize, temperature, clipLow, clipHigh }, { predictions, metaWarmUp, recheck, cutoff }) => ({
    rollout: predictAndSolve({ groupSize, temperature, predictions, warmUp: metaWarmUp, recheck, cutoff }),
    feedback: selfAlignment,
    objective: clippedRatio({ clip: { low: clipLow, high: clipHigh } }),
  }),
});
