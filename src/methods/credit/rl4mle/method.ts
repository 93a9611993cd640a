import { returnsToGo } from "../../../advantage/returnsToGo.ts";
import { perTurn } from "../../../credit/perTurn.ts";
import { method } from "../../../method/method.ts";
import { deadline } from "./deadline.ts";
import { durationWeighted } from "./durationWeighted.ts";
import { milestones } from "./milestones.ts";

export const rl4mle = method({
  id: "rl4mle",
  family: "credit",
  summary: "actions weigh as much as they last, where a deadline hides the slow ones; milestones pay in part",
  paper: "Reinforcement Learning for Machine Learning Engineering Agents",
  mechanism:
    "Agents whose actions are programs collect until a deadline, and what still runs is lost: slow and better programs are under-represented, fast and mediocre ones take over. Weighting each action by its duration undoes that. Programs without a valid submission are paid for the milestones that their output shows, on a much smaller scale than a score.",
  equation: [
    "A_k ← (Δt_k / mean Δt) · A_k                          Δt: how long the action took",
    "R = score of a valid submission, else −10 + 0.1 · milestones reached",
  ].join("\n"),
  source:
    "weights, −10 and 0.1 from the paper. Ours: returns without a baseline, as before a critic has learnt; durations are the environment's simulated seconds, for a run must be reproducible; a window of 12 of them; milestones are what the environment prints, not what a frozen model writes into the program",
  slots: ({ groupSize, temperature }) => ({
    rollout: deadline({ window: 12, workers: groupSize, temperature }),
    feedback: milestones(),
    credit: perTurn(),
    advantage: [returnsToGo({ baseline: "none" }), durationWeighted()],
  }),
});
