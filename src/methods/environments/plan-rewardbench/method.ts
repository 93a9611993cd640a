import { benchmark } from "../../../method/entry.ts";

export const planRewardbench = benchmark({
  id: "plan-rewardbench",
  family: "environments",
  summary: "a benchmark of judges: choose the better of two tool-use trajectories",
  paper: "Aligning Agents via Planning: A Benchmark for Trajectory-Level Reward Modeling",
  suite: "plan-rewardbench",
  law: "The pairwise accuracy of an evaluator is lower on longer trajectories of independent episodes than on short ones.",
  mechanism:
    "Pairs of trajectories, a correct one and a similar one that breaks a rule, in four families: multi-step plans, error recovery, missing tools, and requests to refuse. Negatives are other attempts, rule perturbations, and minimal edits that break exactly one constraint, with tool results simulated anew. Scalar reward models, generative reward models and pairwise judges are evaluated under one protocol, in both orders (the suite plan-rewardbench of whetstone eval).",
  equation: [
    "item = mean over both orders of 1[right] + ½ · 1[tie]            a judge that decides by position gets ½",
    "consistency = share of items with the same winner in both orders",
    "position bias = P(first wins) − ½        length bias = P(longer wins) − ½",
    "slope = d accuracy / d ln length         least squares over items",
  ].join("\n"),
  source:
    "families, shares of sources and the report from reading notes of the paper; its trajectories come from language models and have human-audited labels, ours come from a scripted service desk with an exact checker; rules for ties and orders are ours",
});
