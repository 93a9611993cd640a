import { rejectionSampled } from "../../../advantage/rejectionSampled.ts";
import { method } from "../../../method/method.ts";
import { likelihood } from "../../../objective/likelihood.ts";
import { tracesOf, verdictReward } from "./judgeTraces.ts";

export const j1Stts = method({
  id: "j1-stts",
  family: "judges",
  summary: "a judge that thinks imitates right judgements, then is paid for right verdicts",
  paper: "J1: Exploring Simple Test-Time Scaling for LLM-as-a-Judge",
  mechanism:
    "A judge thinks and then gives a verdict. First it imitates traces of its own beginnings whose verdict is right, among them such as begin with a wrong verdict, reconsider, and end in a right one. Then a verdict is paid where it agrees with the label, and less than a wrong one where there is none. At test time its verdicts can be refused, so that it thinks on: after imitation more thinking hardly helps, after the second stage it does.",
  equation: [
    "stage 1: loss = −mean over tokens of { τ ~ π_start(· | x, a, b) : verdict of τ = label } of ln π(τ)",
    "stage 2: R = 1[verdict = label], −1 without a verdict;   A = (R − mean R) / std R over the group of a pair",
    'test:    think, verdict → "Wait", think, verdict → …     accuracy(n): of the last verdict after n cues',
    "trend = slope of accuracy(n) over log2 of what was thought",
  ].join("\n"),
  source:
    "reconstructed from the paper's abstract and title; −1 and 20 iterations of the first stage are ours. Pairs have to be shown in both orders by the environment. Verdicts are refused by a wrapper of the environment (`keepThinking`), in which they stay in the context before the cue",
  frozen: { start: {} },
  needs: ["freeze"],
  options: {
    stage: { help: "iterations of the first stage", default: 20, low: 0, high: 1e9, whole: true },
    malformed: { help: "reward of a judgement without a verdict", default: -1, low: -1e6, high: 1e6 },
  },
  slots: (_s, { malformed }) => ({ feedback: verdictReward(malformed) }),
  phases: ({ groupSize, temperature }, { stage }) => [
    {
      name: "imitating",
      from: 0,
      until: stage,
      slots: {
        rollout: tracesOf({ groupSize, temperature, model: "start" }),
        advantage: rejectionSampled(),
        objective: likelihood(),
      },
    },
  ],
});
