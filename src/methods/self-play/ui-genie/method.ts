import { constant } from "../../../advantage/constant.ts";
import { method, type SlotChoices } from "../../../method/method.ts";
import { likelihood } from "../../../objective/likelihood.ts";
import { type GuidedSearchOptions, guidedSearch, rewardModel } from "./guidedSearch.ts";
import { unifiedReward } from "./rewardModel.ts";

/** Imitation of demonstrations and of what the search finds. */
export const guided = (options: GuidedSearchOptions): SlotChoices => ({
  rollout: guidedSearch(options),
  advantage: constant(),
  objective: likelihood(),
});

export const uiGenie = method({
  id: "ui-genie",
  family: "self-play",
  summary: "one reward model of steps and outcomes guides a search, judges it, and learns with the agent",
  paper: "UI-Genie: A Self-Improving Approach for Iteratively Boosting MLLM-based Mobile GUI Agents",
  mechanism:
    "Demonstrations are few and shallow. A reward model is made from them without labels: their steps are right, the same steps with other actions are wrong, and so are demonstrations that end early or belong to another goal. It guides a beam search on tasks without a demonstration, and says whether its result does the task. What it accepts is imitated. The reward model learns from it too, with the actions that the search tried in its place as errors, so that both reach further in the next generation.",
  equation: [
    "p(x) = σ(θ · features(goal, screens, actions)),   of the last action, or of the whole task, by mode",
    "search: from B episodes n_a actions of π each; the B with the highest mean p_step go on;   accept iff p_task > ½ and mean p_step ≥ floor",
    "loss = −mean over tokens of demonstrations and accepted episodes of ln π;   θ: cross-entropy on demonstrations, accepted episodes, and what was tried beside their steps",
  ].join("\n"),
  source:
    "reconstructed from the paper's repository: both modes in one model, negatives by rule, beams, retraining of both; B, n_a and the floor are ours. The paper's model sees five screens; ours the last one, by words. What was tried beside accepted steps stands for hard negatives of the agent and for further search after a rejected episode, of which nothing is learnt (ours). Left out: task sets that grow with the generations",
  helpers: { [rewardModel]: unifiedReward() },
  options: {
    beam: { help: "B, episodes that go on after each step", default: 5, low: 1, high: 1000, whole: true },
    actions: { help: "n_a, actions sampled for each", default: 10, low: 1, high: 1000, whole: true },
    turns: { help: "most turns of an episode", default: 30, low: 1, high: 1e6, whole: true },
    floor: { help: "least mean step score of an accepted episode", default: 0.5, low: 0, high: 1 },
  },
  slots: ({ temperature }, options) => guided({ ...options, cotrained: true, temperature }),
});
