import { leaveOneOut } from "../../../advantage/leaveOneOut.ts";
import { method } from "../../../method/method.ts";
import { policyGradient } from "../../../objective/policyGradient.ts";
import { pastSelves } from "../../../rollout/opponentPool.ts";
import { selfPlay } from "../../../rollout/selfPlay.ts";

/** Earlier selves that are kept. */
const size = 8;

export const fictitiousSelfPlay = method({
  id: "fictitious-self-play",
  family: "baseline",
  summary: "self-play in games against a pool of earlier selves, with a baseline for each role",
  paper: "Fictitious Self-Play in Extensive-Form Games",
  mechanism:
    "A policy that plays itself alone chases its own latest habits: where best responses run in a circle, it runs in circles. Earlier selves are kept as frozen opponents, so that a reply must hold against all that the policy has been. They are drawn alike, by how hard they are to beat, or the latest alone.",
  equation: [
    "opponent ~ pool with probability c, else the policy itself        pool: 8 earlier selves",
    "uniform: 1/n     prioritised: ∝ (1 − win rate)²     latest: the newest one",
    "A[i] = R[i] − mean of the other games of the same task, role and opponent",
    "loss = −mean over tokens of A · ln π(t)",
  ].join("\n"),
  source:
    'the pool in place of the paper\'s average policy (ours); prioritised draws from "Grandmaster Level in StarCraft II Using Multi-Agent Reinforcement Learning", with its weighting (1 − x)²',
  defaults: { minibatches: 1 }, // no ratio: every step must see its own policy's samples
  frozen: pastSelves(size),
  options: {
    past: { help: "share of tasks that are played against earlier selves", default: 0.5, low: 0, high: 1 },
    draw: {
      help: "which earlier self plays",
      default: "uniform",
      oneOf: ["uniform", "prioritised", "latest"],
    },
    every: { help: "iterations from one kept self to the next", default: 5, low: 1, high: 1e6, whole: true },
  },
  slots: ({ groupSize, temperature }, { past, draw, every }) => ({
    rollout: selfPlay({ groupSize, temperature, past, pool: { size, draw, every } }),
    advantage: leaveOneOut(),
    objective: policyGradient(),
  }),
});
