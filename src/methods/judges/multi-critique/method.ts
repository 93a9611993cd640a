import { askedModel } from "../../../evaluator/askedModel.ts";
import { verdictCritique, verdictQuestion } from "../../../evaluator/verdictCritique.ts";
import { yesAndNo } from "../../../evaluator/yesProbability.ts";
import { bradleyTerry } from "../../../helper/bradleyTerry.ts";
import { method } from "../../../method/method.ts";
import { critiqued } from "../../../rollout/critiqued.ts";
import { multiTurn } from "../../../rollout/multiTurn.ts";
import { attemptWords } from "../../../rollout/retryWithFeedback.ts";
import { critiqueModel } from "./critiqueModel.ts";

const question = "Is this critique true and complete?";

export const multiCritique = method({
  id: "multi-critique",
  family: "judges",
  summary: "a critic is paid by a reward model of pairs that a meta-judge and the revisions agree on",
  paper: "Training Language Models to Critique With Multi-agent Feedback",
  mechanism:
    "Several critiques are written on an attempt, and a meta-judge scores them. A pair of critiques teaches the reward model only where following the better one led to better revisions too, so that the meta-judge's errors are sieved out. The reward model then pays the critic.",
  equation: [
    "q(c) = −w · wrong remarks − w_miss · merged remarks that c lacks          score of the meta-judge",
    "pair (c⁺, c⁻): q(c⁺) > q(c⁻) and V(c⁺) > V(c⁻)                            V: share of right revisions",
    "L = −(1 − 2 max(0, p − ½))^γ ln p,   p = σ(s(c⁺) − s(c⁻))                 γ = 2",
    "A = (s − mean s) / std s over the critiques on an attempt",
  ].join("\n"),
  source:
    "pairs checked by revisions and the focal ranking loss from a review of the paper, its exact form reconstructed; the penalty for what is missed is ours. The critic's own critiques, four revisions by the policy, a copy of the starting policy as meta-judge and a linear model of words as reward model stand in for pools of models; data for imitation, merged from several critics, are left out",
  models: { critic: { from: "policy" }, judge: { from: "policy" } },
  needs: ["fork"],
  says: [`${attemptWords} ${verdictQuestion} RIGHT WRONG`, `${question} ${yesAndNo.yes} ${yesAndNo.no}\n`],
  helpers: { reward: bradleyTerry() },
  defaults: { groupSize: 4 },
  options: {
    revisions: {
      help: "revisions of an attempt that is called wrong",
      default: 4,
      low: 1,
      high: 1000,
      whole: true,
    },
    gamma: {
      help: "γ, how little a pair counts that the reward model is sure of",
      default: 2,
      low: 0,
      high: 10,
    },
  },
  slots: ({ groupSize, temperature }, { revisions, gamma }) => ({
    rollout: critiqued(multiTurn({ groupSize: 1, temperature }), {
      writer: verdictCritique({ temperature }),
      critiques: groupSize,
      temperature,
      refinements: revisions,
      rate: ({ refined }) => refined,
    }),
    feedback: critiqueModel({ metaJudge: askedModel(question), gamma }),
  }),
});
