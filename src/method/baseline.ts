/** The baseline that every method differs from: group-relative policy optimisation (GRPO) over whole episodes. */
import { groupNormalised } from "../advantage/groupNormalised.ts";
import type { Slots } from "../core/slots.ts";
import { toTrajectory } from "../credit/toTrajectory.ts";
import { uniform } from "../data/uniform.ts";
import { outcome } from "../feedback/outcome.ts";
import { clippedRatio } from "../objective/clippedRatio.ts";
import { multiTurn } from "../rollout/multiTurn.ts";
import { minibatches } from "../update/minibatches.ts";
import type { Settings } from "./settings.ts";

/** All slots of the baseline, built from a run's settings. */
export function grpoSlots(s: Settings): Slots {
  return {
    data: uniform({ tasks: s.tasks }),
    rollout: multiTurn({ groupSize: s.groupSize, temperature: s.temperature }),
    annotate: [],
    feedback: [outcome()],
    credit: [toTrajectory()],
    advantage: [groupNormalised()],
    objective: [clippedRatio({ clip: { low: s.clipLow, high: s.clipHigh } })],
    update: minibatches({
      epochs: s.epochs,
      minibatches: s.minibatches,
      rates: { critic: s.criticRate, prm: s.criticRate },
      schedule: { shape: s.schedule, warmUp: s.warmUp },
      step: {
        optimiser: s.optimiser,
        learningRate: s.learningRate,
        clip: s.gradientClip,
        weightDecay: s.weightDecay,
        betas: [0.9, 0.95],
        epsilon: s.epsilon,
      },
    }),
  };
}
