import { constant } from "../../../advantage/constant.ts";
import type { Task } from "../../../core/types.ts";
import { uniform } from "../../../data/uniform.ts";
import { method, type Recipe } from "../../../method/method.ts";
import { likelihood } from "../../../objective/likelihood.ts";
import { demonstrated } from "../../../rollout/demonstrated.ts";
import { multiTurn } from "../../../rollout/multiTurn.ts";
import { withCorrections } from "../../../rollout/withCorrections.ts";
import { type AggregatedOptions, aggregated } from "./aggregated.ts";
import { filtered } from "./filtered.ts";

export interface YayRobotOptions extends Omit<AggregatedOptions, "step"> {
  /** Iterations of imitation before the policy acts itself. Default 2. */
  readonly demonstrations?: number;
  /** Tasks that are demonstrated; the others are trained with corrections. Default: every task is both. */
  readonly shown?: (task: Task) => boolean;
}

export function yayRobotWith(options: YayRobotOptions = {}): Recipe {
  const { demonstrations = 2, shown = () => true, ...aggregation } = options;
  return method({
    id: "yay-robot",
    family: "user-feedback",
    summary: "spoken corrections override the planner at once and become labels for its fine-tuning",
    paper: "Yell At Your Robot: Improving On-the-Fly from Language Corrections",
    mechanism:
      "A planner gives the next command in words, and a frozen executor carries it out. A supervisor may give another command; it replaces the planner's at once, and is stored as the planner's label for that state. After each round only the planner is fine-tuned on all demonstrations and corrections, with a fixed share of each batch from the newest corrections: enough to learn from them without forgetting the rest. Labels cover the states that the planner's own mistakes lead to, which demonstrations do not.",
    equation: [
      "loss = −mean of ln π(c | x) over demonstrations and corrections",
      "each batch: round(share · B) rows of the newest set, the others of all earlier ones        share = 0.5, B = 32",
    ].join("\n"),
    source:
      "override, relabelling and the mixed batches from the paper and its code. Ours: a share of one half, 150 steps per round; the label is for the turn of the correction, without a look-ahead; the executor, with its cloned chunks of motion, is the environment",
    baseline: "sft",
    slots: ({ groupSize, temperature, tasks, learningRate, optimiser }) => ({
      data: filtered("trained", (task) => !shown(task), uniform({ tasks })),
      rollout: withCorrections(multiTurn({ groupSize, temperature })),
      feedback: [],
      advantage: [], // the policy's own actions are not trained on
      objective: likelihood(),
      update: aggregated({ ...aggregation, step: { optimiser, learningRate } }),
    }),
    phases: ({ tasks }) => [
      {
        name: "demonstrations",
        from: 0,
        until: demonstrations,
        slots: {
          data: filtered("shown", shown, uniform({ tasks })),
          rollout: demonstrated(),
          advantage: constant(),
        },
      },
    ],
  });
}

export const yayRobot = yayRobotWith();
