import { groupNormalised } from "../../../advantage/groupNormalised.ts";
import { randomStream } from "../../../core/random.ts";
import type { Task } from "../../../core/types.ts";
import { toTrajectory } from "../../../credit/toTrajectory.ts";
import { expectedValue, meanOver } from "../../../diagnose/replyProbabilities.ts";
import type { Prior } from "../../../engine/tabular/engine.ts";
import { outcome } from "../../../feedback/outcome.ts";
import { method } from "../../../method/method.ts";
import { clippedRatio } from "../../../objective/clippedRatio.ts";
import { multiTurn } from "../../../rollout/multiTurn.ts";
import { defineCheck } from "../../../train/check.ts";
import type { TrainedInMemory } from "../../../train/trainInMemory.ts";
import { plainAscent, type TrainingArm, trainingArm } from "../../../train/trainingArm.ts";
import { scattered } from "../../../worlds/arms/sequences.ts";
import { grpo } from "../../baseline/grpo/method.ts";
import { sft } from "../../baseline/sft/method.ts";
import { injectedLabel } from "./injectedLabel.ts";
import { visurf } from "./method.ts";
import { rightAnswer, thinking } from "./thinking.ts";

const shape = { questions: 6, thoughts: 4, answers: 8, format: 0.3 } as const;
const environment = (seed: number) => thinking({ ...shape, seed });

/** At every second question the policy cannot find the right answer by itself. */
const isHard = (task: Task): boolean => Number(task.metadata.index) % 2 === 1;

/** Replies are well-formed, usually with a thought; one thought makes easy answers likely, and hard ones are always unlikely. */
function engine(seed: number) {
  const tasks = new Map(
    environment(seed)
      .tasks("train")
      .map((task) => [task.prompt[0]!.content, task]),
  );
  const bias: Prior = ([, question = "", , , form, second], word) => {
    const task = tasks.get(question);
    if (!task) return 0;
    const kind =
      word === "<end>"
        ? "end"
        : word[0] === "t" && word !== "think"
          ? "thought"
          : word[0] === "a"
            ? "answer"
            : "form";
    const wanted =
      form === undefined
        ? "form"
        : second === undefined
          ? form === "think"
            ? "thought"
            : "answer"
          : form === "think"
            ? "answer"
            : "end";
    if (kind !== wanted) return -1e9;
    if (word === "think") return 1;
    if (word !== rightAnswer(task)) return 0;
    if (isHard(task)) return -8;
    const helpful = `t${randomStream(seed).split("helpful", question).below(shape.thoughts)}`;
    return second === helpful ? 3 : 0;
  };
  return scattered(seed, 0.3, { never: /^q\d+$/, bias });
}

const replies = ["direct", ...Array.from({ length: shape.thoughts }, (_, t) => `think t${t}`)].flatMap(
  (start) => Array.from({ length: shape.answers }, (_, a) => `${start} a${a}`),
);
const right = (task: Task, reply: string): number => Number(reply.endsWith(` ${rightAnswer(task)}`));
const thinks = (reply: string): number => Number(reply.startsWith("think"));

/** Exact expectation of a reply's value, mean over the questions that `of` takes. */
const over = (
  { policy }: TrainedInMemory,
  seed: number,
  of: (task: Task) => boolean,
  value: (task: Task, reply: string) => number,
): Promise<number> =>
  meanOver(environment(seed).tasks("train").filter(of), (task) =>
    expectedValue(policy, task, replies, (reply) => value(task, reply)),
  );

const arm = (recipe: TrainingArm["recipe"], iterations = 60) =>
  trainingArm({
    recipe,
    environment,
    engine,
    iterations,
    settings: {
      ...plainAscent,
      tasks: 6,
      groupSize: 8,
      epochs: 2,
    },
    grid: [3, 10, 30, 100, 300].map((learningRate) => ({ learningRate })),
    metric: (done, seed) =>
      over(
        done,
        seed,
        () => true,
        (task, reply) => right(task, reply) + shape.format * thinks(reply),
      ),
    more: async (done, seed) => ({
      "accuracy, easy": await over(done, seed, (task) => !isHard(task), right),
      "accuracy, hard": await over(done, seed, isHard, right),
      "thinks, easy": await over(
        done,
        seed,
        (task) => !isHard(task),
        (_, reply) => thinks(reply),
      ),
    }),
  });

const labelsFor = 20;

/** The labels first, then GRPO for as many iterations as the others. */
const labelsFirst = method({
  id: "labels-first",
  family: "objective",
  summary: "supervised fine-tuning on the labels, then GRPO",
  slots: ({ groupSize, temperature, ...settings }) =>
    sft.build({ groupSize, temperature, ...settings }).slots,
  phases: [
    {
      name: "practice",
      from: labelsFor,
      slots: {
        rollout: multiTurn({ groupSize: 8 }),
        feedback: outcome(),
        credit: toTrajectory(),
        advantage: groupNormalised(),
        objective: clippedRatio(),
      },
    },
  ],
});

/** The label always keeps its full reward. */
const neverFades = method({
  id: "never-fades",
  family: "objective",
  summary: "the label in the group, without fading",
  slots: (settings) => ({ ...visurf.build(settings).slots, credit: injectedLabel({ fades: false }) }),
});

export default defineCheck({
  id: "visurf",
  level: "shared",
  simpler: ["GRPO", "without fading"],
  claim:
    "A label in each group that fades teaches hard questions and keeps the policy's own way at easy ones, where labels first lose it.",
  metric: "expected reward, accuracy and form, after 60 iterations over hard and easy questions, exact",
  direction: "higher",
  smallestEffect: 0.02,
  range: [0, 1 + shape.format],
  tuningSeeds: 3,
  baseline: arm(labelsFirst, labelsFor + 60),
  method: arm(visurf),
  others: { GRPO: arm(grpo), "without fading": arm(neverFades) },
});
