import { diagnostic } from "../../../method/method.ts";

export const planRewardbench = diagnostic({
  id: "plan-rewardbench",
  family: "environments",
  summary: "a benchmark of judges: which of two trajectories with tools is the better one",
  paper: "Aligning Agents via Planning: A Benchmark for Trajectory-Level Reward Modeling",
  law: "An evaluator that tells the better of two short trajectories is less often right about longer ones of independent episodes.",
  mechanism:
    "Pairs of trajectories, a right one and one that looks like it and breaks a rule, in four families: plans of several calls, errors to recover from, tools that are missing, requests to refuse. Negatives are other attempts, rule perturbations, and edits so small that exactly one constraint breaks, with the tools' answers simulated anew. Reward models that score, models that write a verdict and judges that compare are asked under one protocol, in both orders (the suite plan-rewardbench of whetstone eval).",
  equation: [
    "item = mean over both orders of 1[right] + ½ · 1[tie]            a judge that goes by the place gets ½",
    "consistency = share of items with the same winner in both orders",
    "position bias = P(first wins) − ½        length bias = P(longer wins) − ½",
    "slope = d accuracy / d ln length         least squares over items",
  ].join("\n"),
  source:
    "families, shares of sources and the report from reading notes of the paper; its trajectories come from language models and have human-audited labels, ours from a scripted desk with an exact checker; rules for ties and orders are ours",
});
