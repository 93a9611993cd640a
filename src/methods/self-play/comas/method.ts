import { groupNormalised } from "../../../advantage/groupNormalised.ts";
import { anchorDivergence } from "../../../feedback/anchorDivergence.ts";
import { turnRewards } from "../../../feedback/turnRewards.ts";
import { method, type SlotChoices } from "../../../method/method.ts";
import {
  type DiscussionOptions,
  discussion,
  evaluationQuestion,
  type Participant,
  scoreQuestion,
} from "./discussion.ts";

/** Three agents, each a model of its own. */
export const three: readonly Participant[] = [
  { name: "agent 1", model: "policy" },
  { name: "agent 2", model: "second" },
  { name: "agent 3", model: "third" },
];

/** Rewards of a discussion alone, normalised over the iteration for each role and author. @param kl penalty per nat. */
export const discussing = (options: DiscussionOptions, kl: number): SlotChoices => ({
  rollout: discussion(options),
  feedback: [
    turnRewards({ rewards: ["discussion"] }),
    ...(kl > 0 ? [anchorDivergence({ coefficient: kl })] : []),
  ],
  advantage: groupNormalised({ required: ["outcome"] }),
});

export const comas = method({
  id: "comas",
  family: "self-play",
  summary: "agents solve, evaluate and score each other, and are paid by the grades alone",
  paper: "CoMAS: Co-Evolving Multi-Agent Systems via Interaction Rewards",
  mechanism:
    "Several agents discuss a question. One posts a solution, another says what is wrong with it, and a third reads both and grades the solution. The grade is the solution's reward and its complement the evaluation's, so that a critiquer earns by exposing faults and a solver by surviving them; a score is paid for its form alone. No ground truth and no reward model takes part. Each agent learns from its own texts.",
  equation: [
    "s ~ π_a(· | q),   e ~ π_b(· | q, s),   z ~ π_c(· | q, s, e) with a grade g in {1, 2, 3},   g' = (g − 1)/2",
    "R(s) = mean of g' over its evaluations,   R(e) = 1 − g',   R(z) = 0; no grade: R(z) = −1, and none for s and e",
    "A = (R − β Σ ln π/π_ref − mean) / std          over the texts of a role by one agent in the batch, 0 where all are equal",
  ].join("\n"),
  source:
    "phases, a grade as the judgement and a learner for each agent from summaries of the paper; the scale of three, the complement, normalisation by role and agent, three agents and β = 1e-3 are ours. The paper's penalty falls on the tokens that follow, ours on the whole text",
  models: { second: { from: "policy" }, third: { from: "policy" } },
  frozen: { reference: {} },
  needs: ["fork", "freeze"],
  says: [`${three.map(({ name }) => name).join(" ")} ${evaluationQuestion} ${scoreQuestion}\n`],
  options: {
    evaluations: { help: "evaluations of each solution", default: 1, low: 1, high: 1000, whole: true },
    kl: { help: "β, penalty per nat on leaving the starting policy", default: 1e-3, low: 0, high: 100 },
  },
  slots: ({ groupSize, temperature }, { evaluations, kl }) =>
    discussing({ participants: three, groupSize, temperature, evaluations }, kl),
});
