import { verdictQuestion } from "../../../evaluator/verdictCritique.ts";
import { method } from "../../../method/method.ts";
import { critiqueMixture } from "./critiqueMixture.ts";

export const critiqueCoder = method({
  id: "critique-coder",
  family: "judges",
  summary: "a fifth of the prompts ask the policy for a verdict on a solution, paid for truth alone",
  paper: "Critique-Coder: Enhancing Coder Models by Critique Reinforcement Learning",
  mechanism:
    "One policy solves and judges. Most prompts of a batch ask for a solution, which tests score. The others show a question with a solution and ask for a critique that ends in a verdict; it is paid 1 where the verdict is what the tests say, whatever else it contains. Both kinds are trained alike, each prompt's group for itself, so that the skill of judging comes at no extra cost.",
  equation: [
    "prompts of a batch: 1 − s to solve, s to judge             s = 0.2",
    "solve:  y ~ π(· | x),      R = reward of the environment",
    "judge:  c ~ π(· | x, y),   R = 1[verdict of c = 1[y is right]], 0 without a verdict",
    "A = (R − mean R) / std R over the group of a prompt",
  ].join("\n"),
  source:
    "the share and the reward from the paper and its code; there the judged solutions are a data set of other models' solutions, here attempts of the same iteration, as many right as wrong. A verdict is one of the words RIGHT and WRONG in place of T and F in a form, and a critique with both has none",
  says: [`${verdictQuestion} RIGHT WRONG`],
  options: {
    share: { help: "share of prompts that ask for a critique", default: 0.2, low: 0, high: 0.99 },
  },
  slots: ({ groupSize, temperature }, { share }) => ({
    rollout: critiqueMixture({ groupSize, temperature, share }),
  }),
});
