import { constant } from "../../../advantage/constant.ts";
import type { Task } from "../../../core/types.ts";
import { uniform } from "../../../data/uniform.ts";
import { method, type Recipe } from "../../../method/method.ts";
import { likelihood } from "../../../objective/likelihood.ts";
import { demonstrated } from "../../../rollout/demonstrated.ts";
import { multiTurn } from "../../../rollout/multiTurn.ts";
import { type AggregatedOptions, aggregated } from "./aggregated.ts";
import { filtered } from "./filtered.ts";
import { withCorrections } from "./withCorrections.ts";

export interface YayRobotOptions extends Omit<AggregatedOptions, "step"> {
  /** Iterations of imitation before the policy is let loose. Default 2. */
  readonly demonstrations?: number;
  /** Tasks that are shown in them; the others are practised. Default: every task is both. */
  readonly shown?: (task: Task) => boolean;
}

export function yayRobotWith(options: YayRobotOptions = {}): Recipe {
  const { demonstrations = 2, shown = () => true, ...aggregation } = options;
  return method({
    id: "yay-robot",
    family: "user-feedback",
    summary: "spoken corrections are done at once, and become labels that the planner is fine-tuned on",
    paper: "Yell At Your Robot: Improving On-the-Fly from Language Corrections",
    mechanism:
      "A planner says in words what is to be done next, and something frozen carries it out. Whoever watches may say another command; it takes the planner's place at once, and is kept as what the planner should have said there. After each round the planner alone is fine-tuned on all that it was ever shown, with a fixed share of each batch from the newest corrections: enough to learn from them, not so much that the rest is forgotten. Labels lie where the planner's own mistakes lead, which no demonstration covers.",
    equation: [
      "loss = −mean of ln π(c | x) over demonstrations and corrections",
      "each batch: round(share · B) rows of the newest set, the others of all earlier ones        share = 0.5, B = 32",
    ].join("\n"),
    source:
      "override, relabelling and the mixed batches from the paper and its code. Ours: a share of one half, 150 steps per round; the label is for the turn at which somebody spoke, without a look-ahead; the executor, with its cloned chunks of motion, is the environment",
    baseline: "sft",
    slots: ({ groupSize, temperature, tasks, learningRate, optimiser }) => ({
      data: filtered("practised", (task) => !shown(task), uniform({ tasks })),
      rollout: withCorrections(multiTurn({ groupSize, temperature })),
      feedback: [],
      advantage: [], // what it did itself is not learnt from
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
