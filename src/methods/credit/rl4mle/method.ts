import { returnsToGo } from "../../../advantage/returnsToGo.ts";
import { perTurn } from "../../../credit/perTurn.ts";
import { method } from "../../../method/method.ts";
import { deadline } from "./deadline.ts";
import { durationWeighted } from "./durationWeighted.ts";
import { milestones } from "./milestones.ts";

export const rl4mle = method({
  id: "rl4mle",
  family: "credit",
  summary:
    "weights actions by their duration, against the bias of a deadline; milestones earn partial credit",
  paper: "Reinforcement Learning for Machine Learning Engineering Agents",
  mechanism:
    "Agents whose actions are programs collect rollouts until a deadline, and programs that are still running are lost: slow, better programs are under-represented, and fast, mediocre ones dominate. Weighting each action by its duration corrects this. Programs without a valid submission are rewarded for the milestones in their output, on a much smaller scale than a score.",
  equation: [
    "A_k ← (Δt_k / mean Δt) · A_k                          Δt: how long the action took",
    "R = score of a valid submission, else −10 + 0.1 · milestones reached",
  ].join("\n"),
  source:
    "weights, −10 and 0.1 from the paper. Ours: returns without a baseline, as with an untrained critic; durations in seconds simulated by the environment, because a run must be reproducible; a window of 12 seconds; milestones that the environment prints, where the paper has a frozen model insert print statements into the program",
  slots: ({ groupSize, temperature }) => ({
    rollout: deadline({ window: 12, workers: groupSize, temperature }),
    feedback: milestones(),
    credit: perTurn(),
    advantage: [returnsToGo({ baseline: "none" }), durationWeighted()],
  }),
});
