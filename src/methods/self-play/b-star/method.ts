import { constant } from "../../../advantage/constant.ts";
import { method } from "../../../method/method.ts";
import { likelihood } from "../../../objective/likelihood.ts";
import { balancedSampling } from "./balancedSampling.ts";

export const bStar = method({
  id: "b-star",
  family: "self-play",
  summary:
    "imitates its own right answers; each iteration chooses temperature and threshold by a balance score",
  paper: "B-STaR: Monitoring and Balancing Exploration and Exploitation in Self-Taught Reasoners",
  mechanism:
    "A policy that imitates its own right answers loses what it learns from: answers to a query become alike, and the reward tells right from wrong less well. On a few queries several temperatures are tried, and every threshold of the reward. The pair is taken that promises, for each query, enough right answers and few wrong ones among those selected. So the temperature rises as the policy becomes sure of itself.",
  equation: [
    "score(y) = 1[right] + 1/5 · min over steps of the process reward;   selected: score > h, best first, at most c a query",
    "B(T, h) = mean over queries of min(n′/n*, 1) · n′/n         n selected, n′ of them right, n* = 8",
    "(T, h) = argmax B on the probe;   loss = −mean over tokens of selected answers of ln π",
  ].join("\n"),
  source:
    "score, selection, balance, n* = 8 and the two grids from the paper's code; a probe of a tenth of an iteration's queries and a target of four answers a query are ours. Answers of the probe at the chosen temperature are used in training. Reference solutions do not enter the selection. The monitors are stats: selected answers and covered queries",
  defaults: { groupSize: 64, minibatches: 1 },
  options: {
    probe: {
      help: "share of an iteration's tasks on which settings are tried",
      default: 0.1,
      low: 0,
      high: 1,
    },
    target: { help: "selected answers a task, in the mean", default: 4, low: 1, high: 64 },
    wanted: { help: "n*, right answers of a task that are enough", default: 8, low: 1, high: 64 },
  },
  slots: ({ groupSize }, options) => ({
    rollout: balancedSampling({ groupSize, ...options }),
    advantage: constant(),
    objective: likelihood(),
  }),
});
