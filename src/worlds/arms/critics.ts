/** Shared by checks of critics: an actor of fixed skill that reads critiques, and a critic who has to learn to write them. */
import { type Reading, tabularEngine } from "../../engine/tabular/engine.ts";
import type { Recipe } from "../../method/method.ts";
import type { Arm, Choice } from "../../train/check.ts";
import { averageOf, plainAscent, trainingArm } from "../../train/trainingArm.ts";
import { answers, rightOf } from "../answers.ts";

const [questions, choices] = [30, 5];
/** Iterations of an arm, and the last ones, in which it is measured. */
export const [criticIterations, criticMeasured] = [150, 30];
const world = (seed: number) => answers({ questions, vocabulary: choices, right: 1, seed });

/** The actor reads its attempt and the critique: the last word of it is what to answer. */
const reading: Reading = {
  isRead: (message) => message.startsWith("your attempt"),
  shift: (told, _reply, word) => (told.at(-1)?.split(" ").at(-1) === word ? Math.log(4) : 0),
};

/**
 * The actor is right in 6 of 10 attempts. Told another answer it gives it with probability 6/7 if it is right, and with ⅓ if it is
 * wrong. The critic says RIGHT or WRONG and an answer, at first at random but for one nat on the right answer.
 */
const engine = (seed: number) => {
  const right = new Map(
    world(seed)
      .tasks("train")
      .map((task) => [task.prompt[0]!.content, rightOf(task)[0]!]),
  );
  return tabularEngine({
    reading,
    prior: (context, word) => {
      const question = context.find((said) => right.has(said)) ?? "";
      const begun = context.slice(context.lastIndexOf("<assistant>") + 1);
      const isAnswer = /^a\d$/.test(word);
      if (!context.includes("RIGHT")) {
        if (begun.length > 0) return word === "<end>" ? 0 : -1e9;
        return isAnswer ? Number(word === right.get(question)) * Math.log(6) : -1e9;
      }
      if (begun.length === 0) return word === "RIGHT" || word === "WRONG" ? 0 : -1e9;
      if (begun.length === 1 && begun[0] === "WRONG")
        return isAnswer ? Number(word === right.get(question)) : -1e9;
      return word === "<end>" ? 0 : -1e9;
    },
  });
};

/**
 * Four critiques on each of 16 attempts an iteration, 9,600 in all. Its value is the share of what is right after one critique.
 * @param options values of the recipe's own options.
 */
export const criticArm = (
  what: string,
  recipe: Recipe,
  rates: readonly number[],
  options: Choice = {},
): Arm =>
  trainingArm({
    what,
    recipe,
    environment: world,
    engine,
    iterations: criticIterations,
    settings: { ...plainAscent, tasks: 16, groupSize: 4 },
    grid: rates.map((learningRate) => ({ learningRate, ...options })),
    metric: ({ curve }) => averageOf(curve.slice(-criticMeasured), "refined"),
    more: ({ curve }) =>
      Object.fromEntries(
        (["first", "verdict.right", "verdict.wrong", "repaired", "broken"] as const).map((name) => [
          name,
          averageOf(curve.slice(-criticMeasured), name),
        ]),
      ),
  });
