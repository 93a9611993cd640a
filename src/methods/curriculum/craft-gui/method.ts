import { method } from "../../../method/method.ts";
import { gradedSteps } from "./gradedSteps.ts";
import { shortFirst } from "./shortFirst.ts";

export const craftGui = method({
  id: "craft-gui",
  family: "curriculum",
  summary: "short tasks first, then longer ones, with actions graded by form, type and arguments",
  paper: "CRAFT-GUI: Curriculum-Reinforced Agent For GUI Tasks",
  mechanism:
    "Tasks are sorted by the length of their reference trajectory, and GRPO is run in stages from short to long, with some earlier tasks in each stage and a last stage of all. An action is not right or wrong but graded by rules: whether its form, its type and its arguments are right, the arguments only where the type is. So an attempt that fails at its last field still differs from one that does nothing.",
  equation: [
    "stages: 1 to 3 steps, 4 to 8, longer, all;  the next one after perStage iterations or above a success of 0.7",
    "r[t] = 0.1 · form + 0.3 · type + 0.6 · arguments · 1[type is right];  R = mean over the episode's actions",
    "A[i] = (R[i] − mean R) / std R",
  ].join("\n"),
  source:
    "order by length, weighted rules and the gate from the paper; bins, weights, thresholds and the share of earlier tasks are ours. Groups are whole episodes, not single steps; answers about a screen keep the environment's reward, which may be a judge's",
  options: {
    perStage: { help: "iterations after which a stage ends", default: 30, low: 1, whole: true },
    endsAbove: { help: "success above which a stage ends earlier", default: 0.7, low: 0, high: 1 },
    earlier: { help: "share of tasks from earlier stages", default: 0.15, low: 0, high: 0.9 },
  },
  slots: ({ tasks }, options) => ({ data: shortFirst({ tasks, ...options }), feedback: gradedSteps() }),
});
