/** Steps that can be wrong in many ways, some of which a critic misses: one word is a step, and what it is depends on the problem. */
import { randomStream } from "../../../core/random.ts";
import type { Task } from "../../../core/types.ts";
import type { Environment } from "../../../env/environment.ts";
import { oneReply } from "../../../env/oneReply.ts";
import type { IsError } from "./stepGame.ts";

/** Ways to be wrong, `k0` to `k199`, of which the last ones are hard to notice; and problems. */
export const [kinds, hard, problems] = [200, 20, 40] as const;
const isHard = (kind: number): boolean => kind >= kinds - hard;
/** Share of problems in which a step that looks like a mistake is right. */
const looksWrong = 0.3;

export const kindWords = Array.from({ length: kinds }, (_, i) => `k${i}`);
export const hardWords = kindWords.filter((_, i) => isHard(i));

/** The step `plain` is right in every problem; any other, such as `k17`, in three of ten. */
const isRight = (seed: number, task: Task, step: string): boolean =>
  step === "plain" ||
  (kindWords.includes(step) &&
    randomStream(seed).split("right", task.prompt[0]!.content, step).next() < looksWrong);

/** A problem `q7` is solved by one right step. */
export const steps = (seed: number): Environment =>
  oneReply({
    name: "steps",
    summary: "write a right step",
    questions: problems,
    length: 1,
    words: ["plain", ...kindWords],
    seed,
    grade: (task, step) => {
      const success = isRight(seed, task, step);
      return { rewards: { outcome: Number(success) }, success };
    },
    expert: () => "plain",
  });

/** The problem's own rule decides whether a rewritten step is an error: a solver's completions would say the same. */
export const ruled =
  (seed: number): IsError =>
  async (ctx, { task }, k, rewritten) =>
    !isRight(seed, ctx.task(task), rewritten.turns[k]!.action.content.trim());

/** Words of the step that is looked at, and which of the three players acts. */
const read = (context: readonly string[]) => {
  const from = context.indexOf("<assistant>") + 1;
  const asked = context.slice(from + 1);
  return {
    step: context[from] ?? "",
    player: asked.includes("notice")
      ? "sneaky"
      : asked.includes("RIGHT") || asked.includes("Is")
        ? "critic"
        : "solver",
  } as const;
};

/** Logit of a verdict that the critic begins with: it is true in about 88 of 100 cases, and on mistakes that are hard to notice in 12. */
const sure = 2;

/**
 * A solver writes `plain` in seven of ten steps, and otherwise anything. A sneaky generator begins with all kinds equally likely. A critic
 * begins by calling plain steps right, and kinds that are not hard wrong.
 */
export const stepSpeaker = (context: readonly string[], word: string): number => {
  const { step, player } = read(context);
  if (player !== "solver" && context.at(-1) !== "<assistant>") return word === "<end>" ? 0 : -1e9;
  if (player === "solver") {
    if (word === "plain") return Math.log((7 / 3) * kinds);
    return kindWords.includes(word) ? 0 : -1e9;
  }
  if (player === "sneaky") return kindWords.includes(word) ? 0 : -1e9;
  const wrong = kindWords.includes(step) && !isHard(Number(step.slice(1)));
  if (word === "WRONG") return wrong ? sure : 0;
  return word === "RIGHT" ? (wrong ? 0 : sure) : -1e9;
};

/** A generator has one row for all problems, a critic one for each word. */
export const stepReader = (context: readonly string[]): readonly string[] => {
  const { step, player } = read(context);
  return [player === "critic" ? `critic ${step}` : player];
};
