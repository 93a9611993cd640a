import { method, type SlotChoices } from "../../../method/method.ts";
import type { Settings } from "../../../method/settings.ts";
import { clippedRatio } from "../../../objective/clippedRatio.ts";
import { klPenalty } from "../../../objective/klPenalty.ts";
import { gapReward } from "./gapReward.ts";
import { draftWord, gapSignals, improving } from "./improving.ts";

/** GRPO on the gap between new answers and a reference, which the policy reads or not. */
export const improvingOn =
  (reads: boolean, kl: number) =>
  ({ groupSize, temperature, clipLow, clipHigh }: Settings): SlotChoices => ({
    rollout: improving({ groupSize, temperature, reads }),
    feedback: gapSignals(),
    objective: [
      clippedRatio({ clip: { low: clipLow, high: clipHigh } }),
      ...(kl > 0 ? [klPenalty({ coefficient: kl })] : []),
    ],
  });

export const pitSelfImprove = method({
  id: "pit-self-improve",
  family: "self-play",
  summary: "learns to improve a given answer, by a reward for how much better the new one is",
  paper: "Enable Language Models to Implicitly Learn Self-Improvement From Data",
  mechanism:
    "The policy reads a question with an answer and writes a better one. What is better comes from ordinary preference pairs: a reward model of two answers learns that the preferred one beats the other, and that an answer does not beat itself. The policy is trained on this gap, first from worse answers, then from better ones, then from its own. At test time an improved answer can be improved again.",
  equation: [
    "r(w, l) ≥ r(w, w) ≈ r(l, l) ≥ r(l, w):   loss_r = −Σ over the five ordered pairs of ln σ(difference)",
    "max E r(ỹ, y_ref) − β KL(π(· | x, y_ref) ‖ π_0(· | x, y_ref)),   ỹ ~ π(· | x, y_ref)",
    "A[i] = (r[i] − mean r) / std r        over the new answers to one x and y_ref",
  ].join("\n"),
  source:
    "losses and curriculum reconstructed from the paper. Ours: the reward model is linear in the words of both answers and is fitted as pairs come in; GRPO in place of PPO; no supervised stage on (x, y_l) → y_w before, so that the first policy is the anchor of the penalty; pairs are answers of the first policy that the environment compares. Stopping at r(y_{k+1}, y_k) ≤ r(y_k, y_k) is left to the caller",
  says: [draftWord],
  frozen: { reference: {} },
  helpers: { gap: () => gapReward({ steps: 20 }) },
  options: {
    kl: { help: "β, weight of the penalty towards the first policy", default: 0.01, low: 0 },
  },
  slots: (settings, { kl }) => improvingOn(true, kl)(settings),
});
