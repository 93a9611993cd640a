import { constant } from "../../../advantage/constant.ts";
import { groupNormalised } from "../../../advantage/groupNormalised.ts";
import { outcome } from "../../../feedback/outcome.ts";
import { method, type Recipe } from "../../../method/method.ts";
import { clippedRatio } from "../../../objective/clippedRatio.ts";
import { likelihood } from "../../../objective/likelihood.ts";
import { demonstrated } from "../../../rollout/demonstrated.ts";
import { multiTurn } from "../../../rollout/multiTurn.ts";

/** Iterations of the first two stages; the third takes the rest. A stage of 0 is left out. */
export interface GuiStages {
  /** Default 100. */
  readonly imitation?: number;
  /** Default 100. */
  readonly singleTurn?: number;
}

export function guiExplorationLabWith({ imitation = 100, singleTurn = 100 }: GuiStages = {}): Recipe {
  return method({
    id: "gui-exploration-lab",
    family: "environments",
    summary: "three stages: imitation, single steps rewarded against the app graph, whole episodes",
    paper: "GUI Exploration Lab: Enhancing Screen Navigation in Agents via Multi-Turn Reinforcement Learning",
    mechanism:
      "An app is a graph that the reward can read (the environment screens, with rateSteps). Imitation memorises screens and transitions. Single steps are then rewarded for every icon on any shortest path from the task's first screen, which generalises. Whole episodes are rewarded by their final screen; only there does the policy visit states caused by its own mistakes, and learns to explore and to go back.",
    equation: [
      "1. −ln π(expert's action)          2. r = onPath of the first action          3. r = outcome of the whole episode",
      "A[i] = (r[i] − mean r) / std r     in 2 and 3, on every token of the group's members",
      "SPL = success · d* / max(steps, d*),   recovery = P(success | the first click came no nearer)",
    ].join("\n"),
    source:
      "the three stages from the paper's summary; their lengths, rewards without step costs and group sizes are ours",
    baseline: "sft",
    learnsFrom: { kind: "demonstration" },
    slots: { rollout: demonstrated(), advantage: constant(), objective: likelihood() },
    phases: (s) => {
      const training = {
        advantage: groupNormalised(),
        objective: clippedRatio({ clip: { low: s.clipLow, high: s.clipHigh } }),
      };
      const attempts = { groupSize: s.groupSize, temperature: s.temperature };
      const single = {
        ...training,
        rollout: multiTurn({ ...attempts, limits: { turns: 1 } }),
        feedback: outcome({ rewards: ["onPath"] }),
      };
      const multi = {
        ...training,
        rollout: multiTurn(attempts),
        feedback: outcome({ rewards: ["outcome"] }),
      };
      return [
        { name: "single turns", from: imitation, until: imitation + singleTurn, slots: single },
        { name: "whole episodes", from: imitation + singleTurn, slots: multi },
      ];
    },
  });
}

export const guiExplorationLab = guiExplorationLabWith();
