import { leaveOneOut } from "../../../advantage/leaveOneOut.ts";
import { outcome } from "../../../feedback/outcome.ts";
import { method } from "../../../method/method.ts";
import { type Arm, defineCheck } from "../../../train/check.ts";
import { averageOf, type TrainingArm, trainingArm } from "../../../train/trainingArm.ts";
import { leaning } from "../../../worlds/arms/corridor.ts";
import { keyDoor } from "../../../worlds/keyDoor.ts";
import { oprl } from "./method.ts";

const episodes = method({
  id: "rloo-clipped",
  family: "credit",
  summary: "leave-one-out advantage of the episode alone, the same clipped loss",
  slots: { feedback: outcome({ rewards: ["outcome"] }), advantage: leaveOneOut() },
});

const arm = (recipe: TrainingArm["recipe"]): Arm =>
  trainingArm({
    recipe,
    environment: () => keyDoor({ turns: 20 }),
    engine: leaning(0),
    iterations: 60,
    settings: {
      tasks: 4,
      groupSize: 8,
      minibatches: 1,
      schedule: "constant",
      warmUp: 0,
      optimiser: "sgd",
      criticRate: 3,
    },
    metric: ({ curve }) => averageOf(curve.slice(-10), "turns"),
    grid: [{ learningRate: 10 }, { learningRate: 20 }, { learningRate: 100 }, { learningRate: 300 }],
  });

export default defineCheck({
  id: "oprl",
  level: "shared",
  claim:
    "Implicit rewards for steps, learnt online from outcomes, bring the agent to finish with fewer actions.",
  metric: "turns per episode over the last 320 of 1920 episodes; 20 where the door stays shut",
  direction: "lower",
  smallestEffect: 0.3,
  range: [1, 20],
  tuningSeeds: 2,
  baseline: arm(episodes),
  method: arm(oprl),
  notes:
    "With half the episodes per update practice froze at wrong actions with some seeds, at the chosen step size too (10.5 turns against 6.7); with these many, and a reward model of 5 instead of 3 times the step size, with 2 of 20 seeds (7.9 against 7.35, undecided). It still does at large steps: the policy outruns the reward model, whose log-ratio then pulls back, and a batch of failures makes no pairs to correct it. Mean success over practice gained nothing at each arm's best step size, since one success tells the whole way; at equal small steps implicit rewards double it. Under AdamW both models move alike and implicit rewards stay near 0; on the noisy walks of lamps, with rewards and returns in deviations, it was the same: sooner at equal small steps, equal at the best.",
});
