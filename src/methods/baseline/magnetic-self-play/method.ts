import { leaveOneOut } from "../../../advantage/leaveOneOut.ts";
import { method } from "../../../method/method.ts";
import { klPenalty } from "../../../objective/klPenalty.ts";
import { policyGradient } from "../../../objective/policyGradient.ts";
import { selfPlay } from "../../../rollout/selfPlay.ts";

export const magneticSelfPlay = method({
  id: "magnetic-self-play",
  family: "baseline",
  summary:
    "self-play in games with a penalty towards a slow copy of the policy, so that the last policy settles",
  paper:
    "A Unified Approach to Reinforcement Learning, Quantal Response Equilibria, and Two-Player Zero-Sum Games",
  mechanism:
    "A policy gradient in a zero-sum game circles around the equilibrium and does not come nearer; only the average of all policies does. A penalty on the divergence from a magnet, here a copy that follows slowly, turns the circle into a spiral: the last policy comes near the equilibrium of the penalised game, and the moving magnet takes that one to the game's own.",
  equation: [
    "A[i] = R[i] − mean of the other games of the same task and role",
    "loss = mean over tokens of −A · ln π(t) + α · sg[ln π(t)/μ(t)] · ln π(t)",
    "μ ← (1 − ρ) μ + ρ π      after each iteration, in weights            ρ = 0.03",
  ].join("\n"),
  source:
    "the penalised gradient in place of the paper's mirror step, on sampled games (ours); the moving magnet after its section on that",
  defaults: { minibatches: 1 }, // no ratio: every step must see its own policy's samples
  frozen: { reference: { blend: 0.03 } },
  options: {
    magnet: { help: "coefficient of the penalty towards the slow copy, per nat", default: 1, low: 0 },
  },
  slots: ({ groupSize, temperature }, { magnet }) => ({
    rollout: selfPlay({ groupSize, temperature }),
    advantage: leaveOneOut(),
    objective: [policyGradient(), klPenalty({ coefficient: magnet, estimator: "k2" })],
  }),
});
