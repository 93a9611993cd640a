import { rejectionSampled } from "../../../advantage/rejectionSampled.ts";
import type { Able } from "../../../core/evaluator.ts";
import { yesAndNo } from "../../../evaluator/yesProbability.ts";
import { judgedOutcome } from "../../../feedback/judgedOutcome.ts";
import { method, type SlotChoices } from "../../../method/method.ts";
import { likelihood } from "../../../objective/likelihood.ts";
import { outcomeEvaluator, successQuestion } from "./outcomeEvaluator.ts";
import { type Propose, proposalQuestion, proposedBy, proposing } from "./proposing.ts";

/** The loop with another proposer or evaluator. @param most successes of one task that are imitated. */
export const proposed = (
  tasks: number,
  { most, propose, evaluator }: { most: number; propose: Propose; evaluator: Able<"score"> },
): SlotChoices => ({
  data: proposing({ tasks, propose }),
  feedback: judgedOutcome(evaluator),
  advantage: rejectionSampled({ most }),
  objective: likelihood(),
});

export const pae = method({
  id: "pae",
  family: "self-play",
  summary: "imitates attempts at tasks that a proposer writes and an evaluator judges as done",
  paper: "Proposer-Agent-Evaluator(PAE): Autonomous Skill Discovery For Foundation Model Internet Agents",
  mechanism:
    "A proposer writes tasks to train on; it is told what the environment is about, or some of the users' tasks, and nothing of what can be done there. The agent tries them. An evaluator sees the task, the last observations and the final action, and says whether the task was done; nothing else is paid. The agent imitates its own attempts that were judged as done, at most a few of each task, so that easy ones do not crowd out the rest.",
  equation: [
    "x_1 … x_M ~ proposer(· | context)          τ ~ π(· | x_j)          R(τ) = 1[evaluator(x_j, last 3 observations, final action) ≥ ½]",
    "D = { τ : R(τ) = 1 }, at most n of each x_j",
    "loss = −mean over tokens of D of ln π(token | history)          thoughts are tokens like others",
  ].join("\n"),
  source:
    "filtered imitation from the paper's code; the evaluator's view from its text. Proposals are drawn anew in every iteration; the limit of successes of a task (8), ½ and the questions are ours. Proposer and evaluator are copies of the starting policy, which larger models replace in the paper",
  models: { proposer: { from: "policy" }, judge: { from: "policy" } },
  needs: ["fork"],
  says: [`${proposalQuestion} ${successQuestion} ${yesAndNo.yes} ${yesAndNo.no}\n`],
  options: {
    most: {
      help: "n, successes of one task that are imitated in an iteration",
      default: 8,
      low: 1,
      high: 1e9,
      whole: true,
    },
  },
  slots: ({ tasks }, { most }) =>
    proposed(tasks, { most, propose: proposedBy(), evaluator: outcomeEvaluator() }),
});
