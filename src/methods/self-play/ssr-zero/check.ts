import { sigmoid } from "../../../common/statistics/logistic.ts";
import { scorer } from "../../../core/evaluator.ts";
import type { Signal } from "../../../core/signal.ts";
import type { Feedback } from "../../../core/slots.ts";
import { expectedValue, meanOver } from "../../../diagnose/replyProbabilities.ts";
import { type Prior, tabularEngine } from "../../../engine/tabular/engine.ts";
import { outcome } from "../../../feedback/outcome.ts";
import type { Recipe } from "../../../method/method.ts";
import { type Arm, defineCheck } from "../../../train/check.ts";
import { plainAscent, trainingArm } from "../../../train/trainingArm.ts";
import { type Judged, judged } from "../../../worlds/judged.ts";
import { ssrZero } from "./method.ts";
import { replyOf, selfJudged } from "./selfJudged.ts";

/** A quarter of the answers is right; the judge and the tests err on others. */
const world = (seed: number): Judged =>
  judged({ questions: 8, answers: 16, right: 0.25, testError: 0.2, model: { truth: 1.2, noise: 1.6 }, seed });

/**
 * As actor the policy begins with any answer; as judge it says 100 with the probability of the world's reward model, else 0. A table has
 * nothing in common between the two, so that its judgement stays as it is.
 */
function prior(environment: Judged): Prior {
  const tasks = new Map(environment.tasks("train").map((task) => [task.prompt[0]!.content, task]));
  return (context, word) => {
    const judging = context.includes("score");
    if (!judging) return environment.words.includes(word) ? 0 : -1e9;
    if (context.at(-1) !== "<assistant>") return word === "<end>" ? 0 : -1e9;
    const task = tasks.get(context.find((said) => /^q\d+$/.test(said)) ?? "")!;
    const answer = environment.answerOf(task, context.find((said) => /^a\d+$/.test(said)) ?? "")!;
    return word === "100"
      ? Math.log(sigmoid(answer.logit))
      : word === "0"
        ? Math.log(sigmoid(-answer.logit))
        : -1e9;
  };
}

/** Pays attempts that say what most of their group say; of equally frequent answers the first counts. */
const majority: Feedback = async (_ctx, { trajectories }) =>
  [...Map.groupBy(trajectories, ({ task }) => task).values()].flatMap((group) => {
    const counts = [...Map.groupBy(group, replyOf)].sort(([, a], [, b]) => b.length - a.length);
    return group.map((t): Signal => {
      const value = Number(replyOf(t) === counts[0]![0]);
      return { kind: "reward", channel: "outcome", about: [{ trajectory: t.id }], value, source: "majority" };
    });
  });

/** The world's tests, which err on a fifth of the answers, as a metric. */
const tests = (environment: Judged) =>
  scorer("tests", async ({ task, trajectory }) =>
    Number(environment.answerOf(task, replyOf(trajectory))?.passes ?? 0),
  );

const anybody: Feedback = async (ctx, { trajectories }) =>
  trajectories.map(({ id }): Signal => {
    const value = ctx.random.split("anybody", id).next();
    return { kind: "reward", channel: "outcome", about: [{ trajectory: id }], value, source: "anybody" };
  });

const grid = [3, 10, 30, 100].map((learningRate) => ({ learningRate }));

function arm(what: string, feedbackOf?: (environment: Judged) => Feedback): Arm {
  const armIn = (environment: Judged): Arm => {
    const recipe: Recipe = {
      ...ssrZero,
      build: (settings, options) => {
        const built = ssrZero.build(settings, options);
        return feedbackOf
          ? { ...built, slots: { ...built.slots, feedback: [feedbackOf(environment)] } }
          : built;
      },
    };
    return trainingArm({
      what,
      recipe,
      environment: () => environment,
      engine: () => tabularEngine({ context: "message", prior: prior(environment) }),
      iterations: 40,
      settings: { ...plainAscent, tasks: 8, groupSize: 8 },
      grid,
      metric: ({ policy }) =>
        meanOver(environment.tasks("train"), (task) =>
          expectedValue(policy, task, environment.words, (word) =>
            Number(environment.answerOf(task, word)!.right),
          ),
        ),
      more: async ({ policy }) => ({
        "judge's mean probability of 100": await meanOver(environment.tasks("train"), (task) =>
          expectedValue(policy, task, environment.words, (word) =>
            sigmoid(environment.answerOf(task, word)!.logit),
          ),
        ),
      }),
    });
  };
  return { what, grid, measure: (choice, seed) => armIn(world(seed)).measure(choice, seed) };
}

export default defineCheck({
  id: "ssr-zero",
  level: "shared",
  simpler: ["baseline", "anybody"],
  claim:
    "A policy that recognises right answers better than it finds them gets further by its own scores than by agreeing with itself.",
  metric: "probability of a right answer, exact, mean over questions",
  direction: "higher",
  smallestEffect: 0.05,
  range: [0, 1],
  unequalCost: "every arm plays 2,560 episodes; what the judge says counts among the tokens",
  notes:
    "The judge is given its judgement: it says 100 with the probability of the world's reward model, which knows the truth with noise. A table has nothing in common between actor and judge, so that training cannot let the judge drift: whether self-judgement keeps telling good from bad is not tested here.",
  baseline: arm("the majority of its own answers", () => majority),
  method: arm("its own scores"),
  others: {
    anybody: arm("scores at random", () => anybody),
    tests: arm("tests that err on a fifth of the answers", () => outcome()),
    metric: arm("its own scores and those tests, in the mean", (environment) =>
      selfJudged({ metric: tests(environment) }),
    ),
  },
});
