import { verdictQuestion } from "../../../evaluator/verdictCritique.ts";
import { method } from "../../../method/method.ts";
import { multiTurn } from "../../../rollout/multiTurn.ts";
import { attemptWords } from "../../../rollout/retryWithFeedback.ts";
import { pairWords, recycling } from "./recycling.ts";

const kindsOf = {
  all: ["single", "pair", "repair"],
  judge: ["single", "pair"],
  single: ["single"],
  repair: ["repair"],
} as const;

export const sparkCoevolve = method({
  id: "spark-coevolve",
  family: "judges",
  summary: "a batch's own attempts become prompts to judge, to compare and to repair, for the same policy",
  paper: "SPARK: Synergistic Policy And Reward Co-Evolving Framework",
  mechanism:
    "Attempts and what the verifier said of them are not thrown away: in the same iteration they become new prompts whose answers can be verified. The policy says whether one of its answers is right, chooses the better of two, or repairs a wrong one. All of these are trained with the same group-relative objective, so that one network is policy and judge, and the judge has always seen what the policy does now. At test time it answers, judges itself, and revises.",
  equation: [
    "group all right or all wrong → (x, y), label right or wrong;   both → the same with probability 0.3, else (x, y⁺, y⁻) in random order",
    "group with a wrong attempt → (x, y⁻) to be repaired, half of them with everything that y⁻ said",
    "judge: R = 1[verdict = label];   repair: R = reward of the environment",
    "A = (R − mean R) / std R over the group of each prompt",
  ].join("\n"),
  source:
    "rules for the prompts, 0.3, at most 32 of each kind and the rewards from the paper's code; there the wording is drawn from several templates, here each kind has one; verdicts are RIGHT and WRONG, or A and B; both losses are one batch's, each reply with equal weight",
  says: [`${attemptWords} ${verdictQuestion} RIGHT WRONG ${pairWords.other} ${pairWords.question} A B`],
  options: {
    single: {
      help: "probability that a group of right and wrong attempts is asked about a single one",
      default: 0.3,
      low: 0,
      high: 1,
    },
    most: { help: "prompts to judge, and to repair, at most", default: 32, low: 0, high: 1e6, whole: true },
    recycle: {
      help: "what is made of the attempts",
      default: "all",
      oneOf: ["all", "judge", "single", "repair"],
    },
  },
  slots: ({ groupSize, temperature }, { single, most, recycle }) => ({
    rollout: recycling(multiTurn({ groupSize, temperature }), {
      single,
      most,
      groupSize,
      temperature,
      kinds: kindsOf[recycle],
    }),
  }),
});
