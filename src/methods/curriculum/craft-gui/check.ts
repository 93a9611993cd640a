import type { Model } from "../../../core/model.ts";
import { uniform } from "../../../data/uniform.ts";
import { meanOver, replyProbabilities } from "../../../diagnose/replyProbabilities.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { outcome } from "../../../feedback/outcome.ts";
import { method, type Recipe, type SlotChoices } from "../../../method/method.ts";
import { defineCheck } from "../../../train/check.ts";
import { plainAscent, trainingArm } from "../../../train/trainingArm.ts";
import { forms, kindsOf, rightAction } from "./forms.ts";
import { gradedSteps } from "./gradedSteps.ts";
import { craftGui } from "./method.ts";
import { shortFirst, stepsOf } from "./shortFirst.ts";

const [iterations, perStage] = [20, 5];
const world = (seed: number) => forms({ seed });

/** Exact probability of filling all fields of a form of six or more rightly, mean over them. */
async function longForms(policy: Model, seed: number): Promise<number> {
  const known = new Map<number, number>();
  const tasks = world(seed)
    .tasks("train")
    .filter((task) => stepsOf(task) >= 6);
  return meanOver(tasks, async (task) => {
    let all = 1;
    for (const kind of kindsOf(task)) {
      const prompt = [{ role: "user" as const, content: `k${kind}` }];
      const right = rightAction(kind, seed);
      const p = known.get(kind) ?? (await replyProbabilities(policy, { ...task, prompt }, [right]))[0]!;
      known.set(kind, p);
      all *= p;
    }
    return all;
  });
}

const shapes = [/^(click|type|scroll)$/, /^s\d$/, /^v\d$/];

const arm = (what: string, recipe: Recipe) =>
  trainingArm({
    what,
    recipe,
    environment: world,
    engine: () =>
      tabularEngine({
        context: "message",
        prior: (context, word) =>
          shapes[context.length - 1 - context.lastIndexOf("<assistant>")]?.test(word) ? 0 : -1e9,
      }),
    iterations,
    settings: { ...plainAscent, tasks: 6, groupSize: 8 },
    grid: [30, 100, 300, 1000, 3000].map((learningRate) => ({ learningRate })),
    metric: ({ policy }, seed) => longForms(policy, seed),
  });

const part = (id: string, slots: SlotChoices): Recipe =>
  method({ id, family: "curriculum", summary: "one of the two parts", slots });
const binary = outcome({ rewards: ["outcome"] });

export default defineCheck({
  id: "craft-gui",
  level: "table",
  simpler: ["baseline", "right or wrong", "stages alone"],
  claim:
    "Short forms first and graded actions teach long forms that graded actions on forms of all lengths do not.",
  metric: "probability of filling a form of 6 to 10 fields, exact, after 20 iterations",
  direction: "higher",
  smallestEffect: 0.03,
  range: [0, 1],
  unequalCost: "equal attempts; short forms take fewer words, so that the method has fewer",
  notes:
    "On one other seed, with 80 iterations, right or wrong on all lengths came to 0.00 at every step size, right or wrong on short forms first to 1.00, and grades to 0.99 with and without stages. So stages do what grades do, where nothing is graded; the baseline here has grades, and a quarter of that budget. With grades every field of a long form teaches, and an attempt at a short form has fewer fields: the order then costs attempts and brings nothing. Right or wrong is at the floor in both orders at this budget.",
  baseline: arm("graded actions, forms of all lengths", part("grades", { feedback: gradedSteps() })),
  method: arm("graded actions, short forms first", {
    ...craftGui,
    build: (settings) => craftGui.build(settings, { perStage }),
  }),
  others: {
    "right or wrong": arm(
      "right or wrong, all lengths",
      part("binary", { feedback: binary, data: uniform({ tasks: 6 }) }),
    ),
    "stages alone": arm(
      "right or wrong, short forms first",
      part("stages", { feedback: binary, data: shortFirst({ tasks: 6, perStage }) }),
    ),
  },
});
