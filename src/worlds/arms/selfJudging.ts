/** Shared by checks of policies that also judge: one policy answers, says whether an answer is right, and answers again. */
import { mean } from "../../common/statistics/statistics.ts";
import type { Model } from "../../core/model.ts";
import type { Method } from "../../core/slots.ts";
import type { Task } from "../../core/types.ts";
import { replyProbabilities } from "../../diagnose/replyProbabilities.ts";
import { type Features, type Prior, tabularEngine } from "../../engine/tabular/engine.ts";
import { verdictQuestion } from "../../evaluator/verdictCritique.ts";
import type { Recipe } from "../../method/method.ts";
import { attemptWords } from "../../rollout/retryWithFeedback.ts";
import type { Arm, Choice } from "../../train/check.ts";
import { plainAscent, trainingArm } from "../../train/trainingArm.ts";
import { type Judged, judged } from "../judged.ts";

const [questions, choices, ofKind] = [32, 16, 4];
/** A quarter of the answers is right. A look at an answer tells right from wrong in about nine of ten cases. */
const world = (seed: number): Judged =>
  judged({ questions, answers: choices, right: 0.25, model: { truth: 1.5, noise: 1 }, seed });

/** What an answer looks like: its logit in steps of a half. */
const look = (environment: Judged, task: Task | undefined, answer: string): string => {
  const seen = task && environment.answerOf(task, answer);
  return seen ? String(Math.round(2 * seen.logit)) : "nothing";
};

/**
 * Answering, the policy tells only eight kinds of four questions apart, so that no answer is right for all; told that an answer was wrong, it
 * seldom repeats it. A judgement goes by what the answer looks like, whatever the question, so that what is learnt on some answers is of use
 * for all: to check is easier than to find.
 */
function engineOf(environment: Judged) {
  const tasks = new Map(environment.tasks("train").map((task) => [task.prompt[0]!.content, task]));
  const isAnswer = (word: string): boolean => environment.words.includes(word);
  const read = (context: readonly string[]) => {
    const task = tasks.get(context.find((word) => tasks.has(word)) ?? "");
    const kind = `kind ${Math.floor(Number(task?.metadata.index) / ofKind)}`;
    return { kind, task, said: context.filter(isAnswer) };
  };
  const features: Features = (context) => {
    const { kind, task, said } = read(context);
    if (context.includes("RIGHT")) return [`looks ${look(environment, task, said[0] ?? "")}`];
    if (context.includes("better,"))
      return [`pair ${said.map((answer) => look(environment, task, answer)).join(" ")}`];
    return said.length === 0 ? [kind] : [kind, `${kind} after ${said[0]}`];
  };
  const prior: Prior = (context, word) => {
    const begun = context.length - 1 - context.lastIndexOf("<assistant>");
    if (begun > 0) return word === "<end>" ? 0 : -1e9;
    const allowed = context.includes("RIGHT")
      ? word === "RIGHT" || word === "WRONG"
      : context.includes("better,")
        ? word === "A" || word === "B"
        : isAnswer(word);
    return !allowed ? -1e9 : context.includes(word) && isAnswer(word) ? -4 : 0;
  };
  return tabularEngine({ features, prior });
}

/** How well the policy does on a question, exactly. */
async function skills(policy: Model, environment: Judged, task: Task) {
  const { words } = environment;
  const right = words.map((word) => environment.answerOf(task, word)!.right);
  const asked = (
    more: readonly { readonly role: "user" | "assistant"; readonly content: string }[],
  ): Task => ({
    ...task,
    prompt: [...task.prompt, ...more],
  });
  const first = await replyProbabilities(policy, task, words);
  let solved = 0;
  let revised = 0;
  const verdicts: { right: number[]; wrong: number[] } = { right: [], wrong: [] };
  for (const [i, word] of words.entries()) {
    const judging = asked([
      { role: "assistant", content: word },
      { role: "user", content: verdictQuestion },
    ]);
    const [passes = 0, fails = 0] = await replyProbabilities(policy, judging, ["RIGHT", "WRONG"]);
    const repairing = asked([{ role: "user", content: `${attemptWords}${word}\nWRONG` }]);
    const second = await replyProbabilities(policy, repairing, words);
    const repaired = second.reduce((sum, p, j) => sum + p * Number(right[j]), 0);
    solved += first[i]! * Number(right[i]);
    revised += first[i]! * (passes * Number(right[i]) + fails * repaired);
    (right[i] ? verdicts.right : verdicts.wrong).push(right[i] ? passes : fails);
  }
  return { solved, revised, judged: (mean(verdicts.right) + mean(verdicts.wrong)) / 2 };
}

/** How a policy that judges itself is trained and measured. */
interface SelfJudging {
  readonly iterations: number;
  /** Values of the recipe's own options. */
  readonly options?: Choice;
  /** Whether it looks at its answer when it is measured. Default true. */
  readonly looks?: boolean;
}

/** Every policy can be asked for a verdict and for another answer, also one that was never trained to give them. */
const withWords = (built: Method): Method => ({
  ...built,
  says: [...(built.says ?? []), `${attemptWords} ${verdictQuestion} RIGHT WRONG`],
});

/**
 * Its value is the probability of a right answer after one look at one's own: the policy answers, judges the answer, and answers again where
 * it says WRONG. Exact, mean over questions.
 */
export const selfJudgingArm = (
  what: string,
  recipe: Recipe,
  { iterations, options = {}, looks = true }: SelfJudging,
): Arm => {
  const grid = [10, 30, 100, 300].map((learningRate) => ({ learningRate, ...options }));
  const armIn = (environment: Judged): Arm => {
    const all = (policy: Model) =>
      Promise.all(environment.tasks("train").map((task) => skills(policy, environment, task)));
    return trainingArm({
      what,
      recipe: { ...recipe, build: (...given) => withWords(recipe.build(...given)) },
      environment: () => environment,
      engine: () => engineOf(environment),
      iterations,
      settings: { ...plainAscent, tasks: 16, groupSize: 8 },
      grid,
      metric: async ({ policy }) =>
        mean((await all(policy)).map(({ solved, revised }) => (looks ? revised : solved))),
      more: async ({ policy }) => {
        const known = await all(policy);
        return {
          "right at first": mean(known.map(({ solved }) => solved)),
          "true verdicts, as many right as wrong answers": mean(known.map((one) => one.judged)),
        };
      },
    });
  };
  return { what, grid, measure: (choice, seed) => armIn(world(seed)).measure(choice, seed) };
};
