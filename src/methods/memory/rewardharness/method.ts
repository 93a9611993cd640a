import type { Candidate } from "../../../core/rubrics.ts";
import { grpoSlots } from "../../../method/baseline.ts";
import { method, type SlotChoices } from "../../../method/method.ts";
import type { Settings } from "../../../method/settings.ts";
import { featureJudge, featureProposer } from "./features.ts";
import { type RewardHarnessOptions, rewardHarness } from "./learner.ts";

/** The different words of a reply, each once. */
const wordsOf = ({ reply }: Candidate): ReadonlyMap<string, number> =>
  new Map(reply.split(/\s+/).map((word) => [word, 1]));

/** The method with any judge and proposer, such as `chatRubricJudge` and `chatProposer`. */
export const rewardedBy = (settings: Settings, options: Omit<RewardHarnessOptions, "each">): SlotChoices =>
  rewardHarness({ ...options, each: grpoSlots(settings).update });

export const rewardharness = method({
  id: "rewardharness",
  family: "memory",
  summary: "evolves a frozen judge's library of rubrics against 100 labels, then uses the judge as reward",
  paper: "RewardHarness: Self-Evolving Agentic Post-Training",
  mechanism:
    "Instead of training a reward model, a frozen judge reads a library of skills and tools. Where its preferences on a hundred labelled pairs differ from the human labels, edits of the library are proposed; an edit stays unless held-out accuracy falls by more than a margin, and the library with the best held-out accuracy is deployed. The judge's scores are then the reward of GRPO. Unlike weights, a library can be read, corrected and reverted.",
  equation: [
    "keep L' if acc(L') ≥ acc(L) − m, else restore L     acc: share of held-out pairs ranked as labelled; m = 0.075",
    "best = argmax acc over the libraries kept",
    "R(x, y) = (score shown in order + score shown in reverse order) / 2, in [0, 1];  every pair in both orders as well",
    "every P edits: take out e where acc(L without e) ≥ acc(L)     P = 50",
  ].join("\n"),
  source:
    "labels, split, m, P and both orders from the paper's code. By default skills are single words and the proposer derives them from the errors, in place of a language model; `rewardedBy` takes `chatRubricJudge` and `chatProposer`. 40 edits, which end before the first pruning, and the rejection of edits that quote an item are ours. Skills and tools are edited together, not in separate phases; `chatRubricJudge` asks the model which of them an input needs",
  slots: (settings) =>
    rewardedBy(settings, { judge: featureJudge(wordsOf), propose: featureProposer(wordsOf) }),
});
