import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { outcome } from "../../../feedback/outcome.ts";
import { method } from "../../../method/method.ts";
import { type Arm, defineCheck } from "../../../train/check.ts";
import { finalSuccess, type TrainingArm, trainingArm } from "../../../train/trainingArm.ts";
import { artefact } from "./artefact.ts";
import { preGrpo } from "./method.ts";
import { qualityCurve } from "./qualityCurve.ts";

/** One number per trajectory instead of the curve: the best state that the scorer saw, or the true last one. */
const single = (state: "peak" | "last") =>
  method({
    id: `${state}-state`,
    family: "credit",
    summary: `GRPO, reward of the ${state} state`,
    slots: {
      feedback:
        state === "peak" ? qualityCurve({ retention: 0, efficiency: 0 }) : outcome({ rewards: ["outcome"] }),
    },
  });

const words = ["stop", "guided", "random"];

const arm = (recipe: TrainingArm["recipe"]): Arm =>
  trainingArm({
    recipe,
    environment: () => artefact({ noise: 0.1 }),
    engine: () =>
      tabularEngine({ context: "message", prior: (_, word) => (words.includes(word) ? 0 : -1e9) }),
    iterations: 100,
    settings: { tasks: 3, groupSize: 8, minibatches: 1, schedule: "linear", warmUp: 0 },
    grid: [{ learningRate: 0.03 }, { learningRate: 0.1 }, { learningRate: 0.3 }, { learningRate: 1 }],
    metric: finalSuccess(20),
    more: ({ curve }) => ({ turns: curve.at(-1)!.turns! }),
  });

export default defineCheck({
  id: "pre-grpo",
  level: "table",
  simpler: ["last"],
  claim: "Paying the whole curve of qualities leaves better artefacts than paying the best state alone.",
  metric: "share of the last 480 episodes that end with a true quality of 0.8 or more",
  direction: "higher",
  smallestEffect: 0.02,
  range: [0, 1],
  baseline: arm(single("peak")),
  tuningSeeds: 2,
  method: arm(preGrpo),
  others: { last: arm(single("last")) },
  notes:
    "Against the true last state as reward (the arm `last`) no gain is to be expected: once the agent can stop, that reward teaches it to stop in time as well, and λ_e = 0.2 is too small to shorten episodes further. With half the updates at a constant step size the gain over the best state was too noisy to decide.",
});
