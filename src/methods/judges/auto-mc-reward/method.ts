import { returnsToGo } from "../../../advantage/returnsToGo.ts";
import { perTurn } from "../../../credit/perTurn.ts";
import { grpoSlots } from "../../../method/baseline.ts";
import { method, type SlotChoices } from "../../../method/method.ts";
import type { Settings } from "../../../method/settings.ts";
import { type DesignedRewardOptions, designedReward } from "./designedReward.ts";
import { fromStart, startName } from "./fromStart.ts";
import { authorsBy, modelAnswer } from "./modelAuthors.ts";

/** The slots with the given authors of the reward, such as `authorsBy` a chat model. */
export const designedSlots = (
  s: Settings,
  { discount, ...design }: DesignedRewardOptions & { readonly discount: number },
): SlotChoices => ({
  feedback: designedReward(design),
  credit: perTurn(),
  advantage: returnsToGo({ discount, normalise: true }),
  update: fromStart(grpoSlots(s).update),
});

export const autoMcReward = method({
  id: "auto-mc-reward",
  family: "judges",
  summary: "a model writes the reward as code, another reviews it, a third reads failures; then again",
  paper: "Auto MC-Reward: Automated Dense Reward Design with Large Language Models for Minecraft",
  mechanism:
    "A designer writes a reward function over named fields of two states that follow each other. The code is run in a sandbox on recorded attempts and reviewed by a critic, whose objections go back to the designer. The agent trains with what is accepted; then an analyser reads failed attempts, and the designer revises the best version. Every version trains from the same first weights, and versions are compared by true success. Only signs of what the code returns are paid.",
  equation: [
    "(dense, sparse) = code(fields before, fields after, memory)        in a sandbox",
    "r_t = sgn(sparse) + 0.1 sgn(dense)",
    "A_t = Σ_{j ≥ t} γ^(j − t) r_j − its mean over the group at turn t, in deviations",
    "code ← designer(task, best code, its success, analysis of failures),   θ ← θ_start",
  ].join("\n"),
  source:
    "designer, critic with three drafts at most, analyser, signs and the factor 0.1 from memory of the paper. Rounds inside one run, a worth measured in the second half of a round, the rest of the run for the best version and group-relative returns in place of PPO are ours; fields are text and numbers, not images. By default all authors are the starting policy, and fields are what the agent saw; `designedSlots` takes others. The environment's own rewards are paid where no draft is accepted",
  models: { designer: { from: "policy" } },
  frozen: { [startName]: {} },
  needs: ["freeze"],
  options: {
    rounds: { help: "R, versions that are tried", default: 4, low: 1, high: 100, whole: true },
    iterations: {
      help: "iterations that each version trains",
      default: 20,
      low: 1,
      high: 1e6,
      whole: true,
    },
    gain: { help: "ε, least gain of a revision for another one; −1: none", default: 0.01, low: -1, high: 1 },
    drafts: { help: "drafts of one version, at most", default: 3, low: 1, high: 100, whole: true },
    weight: { help: "weight of the sign of the dense reward", default: 0.1, low: 0, high: 1 },
    failures: { help: "K, failed attempts that are analysed", default: 8, low: 1, high: 1000, whole: true },
    last: { help: "L, last states of each of them", default: 8, low: 2, high: 1000, whole: true },
    discount: { help: "γ, discount per turn", default: 0.97, low: 0, high: 1 },
  },
  slots: (s, options) => designedSlots(s, { ...options, authors: authorsBy(modelAnswer("designer")) }),
});
