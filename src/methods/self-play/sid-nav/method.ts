import { constant } from "../../../advantage/constant.ts";
import { method } from "../../../method/method.ts";
import { likelihood } from "../../../objective/likelihood.ts";
import { multiTurn } from "../../../rollout/multiTurn.ts";
import { ownDemonstrations } from "./ownDemonstrations.ts";

export const sidNav = method({
  id: "sid-nav",
  family: "self-play",
  summary: "imitates an expert that knows the way, then the policy's own successes, which search for it",
  paper: "Learning Goal-Oriented Language-Guided Navigation with Self-Improving Demonstrations at Scale",
  mechanism:
    "Demonstrations of shortest ways go straight to a goal that the agent cannot see, so that they show no search, and no way back from a wrong turn. A policy trained on them is therefore sent out itself, and its own successes, which contain searching and turning back, are the demonstrations of the next round, as long as they are not much longer than the shortest way.",
  equation: [
    "round 0: D = shortest ways;   round k: D = {y ~ π_{k−1} : y reaches the goal, length(y) ≤ c · d*}",
    "loss = −mean over tokens of D of ln π",
  ].join("\n"),
  source:
    "reconstructed from the abstract: rounds, filter and c. Ours: every iteration is a round from its own policy, rounds go on from the last weights, d* is the length of the expert's episode, and demonstrations of the first round are not mixed in later",
  options: {
    expert: {
      help: "share of the iterations that imitate the expert",
      default: 0.25,
      low: 0,
      high: 1,
    },
    longest: { help: "c: how many times the shortest way a success may be long", default: 3, low: 1 },
    best: { help: "successes of a task that are kept", default: 2, low: 1, whole: true },
  },
  slots: ({ groupSize, temperature }, { expert, longest, best }) => ({
    rollout: ownDemonstrations(multiTurn({ groupSize, temperature }), { expert, longest, best }),
    advantage: constant(),
    objective: likelihood(),
  }),
});
