import { rejectionSampled } from "../../../advantage/rejectionSampled.ts";
import { uniform } from "../../../data/uniform.ts";
import { method } from "../../../method/method.ts";
import { likelihood } from "../../../objective/likelihood.ts";
import { stagedFormats } from "./stagedFormats.ts";

export const currreft = method({
  id: "currreft",
  family: "curriculum",
  summary:
    "asks all tasks in one format at a time, from the easiest to the open one, then imitates successes",
  paper:
    "Boosting the Generalization and Reasoning of Vision Language Models with Curriculum Reinforcement Learning",
  mechanism:
    "The same tasks are asked in formats of growing difficulty, one stage after the other, and trained with GRPO: choices first, where success is dense, the open question last, where grading is precise. A stage ends after a fixed number of iterations, or earlier once most attempts succeed, and the next one begins with its weights. At last the policy imitates its own successes, which restores what reinforcement learning has lost.",
  equation: [
    "stage s: every task in its format s, from the easiest;  s ← s + 1 after perStage iterations, or where mean success > 0.8",
    "A[i] = (R[i] − mean R) / std R        over attempts at one task in one format",
    "from iteration imitateFrom on: loss = −mean over tokens of successes of ln π(y[t] | x, y[<t])",
  ].join("\n"),
  source:
    "order of formats, GRPO in stages and the final imitation of judged successes from the paper; stage lengths are ours. The formats are those that the environment lists (`metadata.formats`), in place of yes or no, choice and open question; the verifier stands in for the judge, and general data is not mixed in. Partial credit for subsets is the environment's",
  options: {
    perStage: { help: "iterations of a stage", default: 20, low: 1, whole: true },
    endsAbove: { help: "mean success above which a stage ends earlier", default: 0.8, low: 0, high: 1 },
    imitateFrom: { help: "iteration from which it imitates its successes", default: 90, low: 1, whole: true },
  },
  slots: ({ tasks }, { perStage, endsAbove }) => ({
    data: stagedFormats(uniform({ tasks }), { perStage, endsAbove }),
  }),
  phases: (_settings, { imitateFrom }) => [
    {
      name: "imitation",
      from: imitateFrom,
      slots: { advantage: rejectionSampled(), objective: likelihood() },
    },
  ],
});
