import type { Ctx } from "../../../core/context.ts";
import type { Data, Feedback } from "../../../core/slots.ts";
import { succeeded, type Task } from "../../../core/types.ts";
import { meanOver, replyProbabilities } from "../../../diagnose/replyProbabilities.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { method, type Recipe } from "../../../method/method.ts";
import { type Arm, defineCheck } from "../../../train/check.ts";
import { averageOf, plainAscent, type TrainingArm, trainingArm } from "../../../train/trainingArm.ts";
import { rloo } from "../../baseline/rloo/method.ts";
import { studentOf, type TaughtOptions, taught } from "./method.ts";
import { fromTemplate, knowsNothing, placeIn, questions, templateWords } from "./sources.ts";
import { problemsOf, type ReadProblems, teacher, teacherQuestion } from "./teaching.ts";

const [hard, batch, attempts, episodes] = [16, 8, 8, 16_000];
const grid = [2.5, 10, 40, 160, 640].map((learningRate) => ({ learningRate }));
const says = [`${teacherQuestion}\n`, templateWords.join(" ")];

/** A template stands for a question of the world of this seed. */
const readIn =
  (seed: number): ReadProblems =>
  (_ctx, text, id) =>
    fromTemplate(seed, text, id);

const options = (seed: number): TaughtOptions => ({
  ...{ texts: 2, maxTokens: 2, iterations: 3, repeats: 1, threshold: 0.01, over: 3 },
  ...{ teacherRate: 1, kl: 0, read: readIn(seed) },
});

/** What a recipe of the check shares with SOAR, in the world of a seed. */
const likeSoar = (id: string, seed: number, over: Partial<TaughtOptions>, feedback?: Feedback): Recipe =>
  method({
    id,
    family: "curriculum",
    summary: id,
    models: { [teacher]: { from: "policy" } },
    students: (s) => studentOf(s, { batch, attempts }),
    needs: ["fork"],
    says,
    slots: (s) => ({
      ...taught(s, { ...options(seed), ...over }),
      ...(feedback && { feedback }),
    }),
  });

/** The intrinsic reward: mean over a dataset's problems of p (1 − p), where p is the student's success in four attempts. */
const learnability =
  (seed: number): Feedback =>
  async (ctx, experience) =>
    Promise.all(
      experience.units.map(async (unit) => {
        const tasks = problemsOf(ctx, experience, unit, 0, readIn(seed));
        const worths = await Promise.all(tasks.map((task) => worthOf(ctx, task)));
        const value = worths.reduce((a, b) => a + b / worths.length, 0);
        const about = [{ trajectory: unit.members[0]! }];
        return { kind: "reward" as const, channel: "progress", about, value, source: "learnability" };
      }),
    );

async function worthOf(ctx: Ctx, task: Task): Promise<number> {
  const plays = Array.from({ length: attempts }, (_, attempt) => ctx.play({ task, attempt }));
  const p = (await Promise.all(plays)).flat().filter(succeeded).length / attempts;
  return p * (1 - p);
}

/** Problems of templates drawn uniformly, without a teacher. */
const anyProblems = (seed: number): Data<null> => ({
  name: "any problems",
  init: () => null,
  async choose({ random, clock }, _tasks, state) {
    const words = templateWords;
    const [subjects, lengths] = ["source-", "steps-"].map((start) =>
      words.filter((word) => word.startsWith(start)),
    );
    const tasks = Array.from({ length: batch }, (_, i) => {
      const own = random.split(i);
      const text = `${subjects![own.below(subjects!.length)]} ${lengths![own.below(lengths!.length)]}`;
      return fromTemplate(seed, text, `any/${clock.iteration}/${i}`)[0]!;
    });
    return { tasks, next: state };
  },
  observe: async (_ctx, _annotated, state) => state,
});

const uniformly = (seed: number): Recipe =>
  method({
    id: "any-problems",
    family: "curriculum",
    summary: "RLOO on problems of templates drawn uniformly",
    says,
    slots: { ...slotsOfRloo, data: anyProblems(seed) },
  });
const slotsOfRloo = (() => {
  const { advantage, objective } = rloo.build().slots;
  return { advantage, objective };
})();

function arm(what: string, recipe: (seed: number) => Recipe, settings: TrainingArm["settings"]): Arm {
  const armAt = (seed: number): Arm =>
    trainingArm({
      what,
      recipe: recipe(seed),
      environment: () => questions(seed),
      engine: () => tabularEngine({ features: placeIn, prior: knowsNothing }),
      iterations: 100_000,
      episodes,
      settings: { ...plainAscent, ...settings },
      grid,
      metric: ({ policy }) =>
        meanOver(
          questions(seed).tasks("test"),
          async (task) => (await replyProbabilities(policy, task, [task.reference!]))[0]!,
        ),
      more: ({ curve }) => ({
        "datasets promoted": curve.reduce((sum, { promoted = 0 }) => sum + promoted, 0),
        "dead groups": averageOf(curve, "deadGroups"),
      }),
    });
  return { what, grid, measure: (choice, seed) => armAt(seed).measure(choice, seed) };
}

const outer = { tasks: hard, groupSize: 4 } as const;
const inner = { tasks: batch, groupSize: attempts } as const;

export default defineCheck({
  id: "soar",
  level: "table",
  claim:
    "A teacher that is paid for measured progress finds problems that teach a student hard tasks, where problems of all templates and those of middling difficulty do not.",
  metric: "probability of the right reply to a held-out hard question, exact, mean over 16",
  direction: "higher",
  smallestEffect: 0.05,
  range: [0, 1],
  simpler: ["baseline", "hard questions", "learnability"],
  unequalCost:
    "every arm plays about 16,000 episodes; measuring progress plays hard questions, whose replies are longer than those to problems",
  notes:
    "Two of the four sources are wrong at every step and one at every other, which no reward tells from right ones but progress on the hard questions: the world is made for a reward that is grounded there. Where each of the three is right on a third of the steps, problems drawn uniformly teach as well (0.97 on other seeds); where none is ever right, they teach nothing (0.001). The hard questions are not hard enough: 16,000 attempts at odds of 1 in 7,776 contain about two successes, and in a table of eight steps one success, learnt with a large step, teaches five. So practice on them alone is ahead of the teacher at the largest step size tried (0.95), which the trials at small ones had not shown.",
  baseline: arm("RLOO on problems of templates drawn uniformly", uniformly, inner),
  method: arm(
    "a teacher paid for progress on the hard questions",
    (seed) => likeSoar("soar", seed, {}),
    outer,
  ),
  others: {
    "hard questions": arm("RLOO on the hard questions", () => rloo, inner),
    learnability: arm(
      "a teacher paid for p (1 − p), each best dataset kept",
      (seed) => likeSoar("learnability", seed, { threshold: -1, over: 1 }, learnability(seed)),
      outer,
    ),
  },
});
