import { leaveOneOut } from "../../src/advantage/leaveOneOut.ts";
import { keyDoor } from "../../src/env/keyDoor.ts";
import { outcome } from "../../src/feedback/outcome.ts";
import { oprl } from "../../src/method/credit/oprl.ts";
import { method } from "../../src/method/method.ts";
import { type Arm, armOf, averageOf, defineCheck, type PracticeArm } from "../../src/train/index.ts";
import { leaning } from "./_corridor.ts";

const episodes = method({
  id: "rloo-clipped",
  family: "credit",
  summary: "leave-one-out advantage of the episode alone, the same clipped loss",
  slots: { feedback: outcome({ rewards: ["outcome"] }), advantage: leaveOneOut() },
});

const arm = (recipe: PracticeArm["recipe"]): Arm =>
  armOf({
    recipe,
    environment: () => keyDoor({ turns: 20 }),
    engine: leaning(0),
    iterations: 60,
    settings: {
      tasks: 2,
      groupSize: 8,
      minibatches: 1,
      schedule: "constant",
      warmUp: 0,
      optimiser: "sgd",
      criticRate: 5,
    },
    metric: ({ curve }) => averageOf(curve.slice(-10), "turns"),
    grid: [{ learningRate: 10 }, { learningRate: 30 }, { learningRate: 100 }, { learningRate: 300 }],
  });

export default defineCheck({
  id: "oprl",
  claim:
    "Implicit rewards for steps, learnt online from outcomes, bring the agent to finish with fewer actions.",
  metric: "turns per episode over the last 160 of 960 episodes; 20 where the door stays shut",
  direction: "lower",
  smallestEffect: 0.3,
  tuningSeeds: 2,
  baseline: arm(episodes),
  method: arm(oprl),
  notes:
    "Plain descent, as in the bandit literature: under AdamW both models move alike and implicit rewards stay near 0. Of mean success over practice little was left to gain: at its best step size the baseline solves the corridor within a few updates, as one success tells it the whole way; at small equal step sizes (10) implicit rewards double it. At step sizes from 100 on the policy outruns the reward model, whose log-ratio then pulls back, and practice may freeze.",
});
