import { leaveOneOut } from "../../../advantage/leaveOneOut.ts";
import { method } from "../../../method/method.ts";
import { policyGradient } from "../../../objective/policyGradient.ts";
import { pastSelves } from "../../../rollout/opponentPool.ts";
import { selfPlay } from "../../../rollout/selfPlay.ts";

/** Earlier selves that are kept. */
const size = 8;

export const leagueSelfPlay = method({
  id: "league-self-play",
  family: "baseline",
  summary: "self-play in a league: earlier selves drawn by how hard they are, and a learner that exploits",
  paper: "Grandmaster Level in StarCraft II Using Multi-Agent Reinforcement Learning",
  mechanism:
    "Three kinds of opponents: the policy itself, earlier selves that it still loses to, and an exploiter. The exploiter is a second model that learns only from its games against the policy, so it looks for what beats the policy now; the policy learns from the same games to close the hole.",
  equation: [
    "opponent: an earlier self with probability c, the exploiter with probability e, else the policy itself",
    "earlier selves: ∝ (1 − win rate)²",
    "A[i] = R[i] − mean of the other games of the same task, role, model and opponent",
    "loss = −mean over tokens of A · ln π(t)            for policy and exploiter, each on its own games",
  ].join("\n"),
  source:
    "after the paper's main agents and main exploiters; one exploiter, which is never reset, and a policy gradient without supervised start (ours)",
  defaults: { minibatches: 1 }, // no ratio: every step must see its own policy's samples
  frozen: pastSelves(size),
  models: { exploiter: { from: "policy" } },
  options: {
    past: {
      help: "share of tasks that are played against earlier selves; with exploited at most 1",
      default: 0.35,
      low: 0,
      high: 1,
    },
    exploited: {
      help: "share of tasks that are played against the exploiter",
      default: 0.3,
      low: 0,
      high: 1,
    },
    every: { help: "iterations from one kept self to the next", default: 5, low: 1, high: 1e6, whole: true },
  },
  slots: ({ groupSize, temperature }, { past, exploited, every }) => ({
    rollout: selfPlay({
      groupSize,
      temperature,
      past,
      exploited,
      pool: { size, draw: "prioritised", every },
      exploiters: ["exploiter"],
    }),
    advantage: leaveOneOut(),
    objective: policyGradient(),
  }),
});
