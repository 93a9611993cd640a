import { groupNormalised } from "../../../advantage/groupNormalised.ts";
import { returnsToGo } from "../../../advantage/returnsToGo.ts";
import { grpoSlots } from "../../../method/baseline.ts";
import { method, type Recipe } from "../../../method/method.ts";
import { multiTurn } from "../../../rollout/multiTurn.ts";
import { gatherLessons, type LessonOptions, withLessons } from "./stepwise.ts";
import { lessonWords } from "./writers.ts";

/** Settings of {@link sleaRlWith}. */
export interface SleaRlOptions extends LessonOptions {
  /** w, weight of the step advantages. Default 1. */
  readonly steps?: number;
}

/** The method with any writer of lessons, such as `chatLessons`, and any limits of its library. */
export function sleaRlWith(options: SleaRlOptions = {}): Recipe {
  const { steps: weight = 1, ...lessons } = options;
  return method({
    id: "slea-rl",
    family: "memory",
    summary: "retrieves lessons from earlier episodes at every step; episode and step advantages are added",
    paper: "SLEA-RL: Step-Level Experience Augmented Reinforcement Learning for Multi-Turn Agentic Training",
    mechanism:
      "The right action depends on the current state, which advice given at the start of an episode cannot know. A library keeps short lessons by clusters of similar observations: strategies written from the best episodes, and warnings from the worst. Before every action the lessons of the current cluster are shown, and they stay in the prompt that is trained on. Actions get two advantages: of the episode within its group, and of the return that follows the action, compared with the group's steps from the same state.",
    equation: [
      "A[i, t] = A_E[i] + w A_S[i, t]                                      w = 1",
      "A_E[i] = (R[i] − mean R) / std R                                    over the group",
      "A_S[i, t] = (D[i, t] − mean D) / std D,  D[i, t] = Σ_k γ^k r[i, t+k]       over the group's steps in the same state; γ = 0.95",
      "cluster(o) = the first c with ratio(o, c) ≥ 0.85, else a new one     Ratcliff and Obershelp's, over 500 characters",
      "shown at o: the 2 strategies and the warning of cluster(o) with the highest scores, ≤ 800 characters",
    ].join("\n"),
    source:
      "thresholds, limits, warm-up and both advantages from the paper's code; by default lessons are actions, written without a model (`chatLessons` asks one), and a lesson's score is its episode's reward, discounted by the remaining turns (ours). States are the environment's own. Left out: lessons about whole tasks, the KL penalty of 0.01 towards the reference, and the penalty of 0.1 for invalid actions, which belongs to the environment",
    says: lessonWords,
    options: {
      steps: { help: "w, weight of the step advantages", default: weight, low: 0 },
    },
    slots: (settings, o) => {
      const { groupSize, temperature } = settings;
      return {
        rollout: withLessons(multiTurn({ groupSize, temperature }), lessons),
        advantage: [
          groupNormalised(),
          returnsToGo({ baseline: "state", discount: 0.95, normalise: true, weight: o.steps }),
        ],
        update: gatherLessons(grpoSlots(settings).update, lessons),
      };
    },
  });
}

export const sleaRl = sleaRlWith();
