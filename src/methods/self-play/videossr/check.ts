import type { Model } from "../../../core/model.ts";
import { randomStream } from "../../../core/random.ts";
import { meanOver, replyProbabilities } from "../../../diagnose/replyProbabilities.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import type { Environment } from "../../../env/environment.ts";
import type { Recipe } from "../../../method/method.ts";
import { defineCheck } from "../../../train/check.ts";
import { plainAscent, trainingArm } from "../../../train/trainingArm.ts";
import { grpo } from "../../baseline/grpo/method.ts";
import { type Kind, kinds } from "./grades.ts";
import { videossr } from "./method.ts";
import { kindOf, pretexts, truthOf } from "./pretexts.ts";

const world = (seed: number) => pretexts({ perKind: 4, frames: 12, pieces: 6, most: 9, seed });

/** A row of logits for each video and place of the answer; begins a little in favour of what is right, with noise. */
function engine(seed: number) {
  const truths = new Map(
    world(seed)
      .tasks("train")
      .map((task) => [task.prompt[0]!.content, task]),
  );
  const split = (context: readonly string[]) => {
    const end = context.lastIndexOf("<assistant>");
    return { seen: context.slice(1, end - 1).join(" "), said: context.slice(end + 1) };
  };
  return tabularEngine({
    context: "message",
    features: (context) => {
      const { seen, said } = split(context);
      return [`${seen} at ${said.length}`];
    },
    prior: (context, word) => {
      const { seen, said } = split(context);
      const task = truths.get(seen);
      const allowed = task && kindOf(task) === "jigsaw" ? /^[0-5]$/ : /^\d+$/;
      if (!allowed.test(word) || (task && kindOf(task) === "jigsaw" && said.includes(word))) return -1e9;
      const noise = 0.3 * randomStream(seed).split(seen, said.length, word).normal();
      return noise + (task && String(truthOf(task)[said.length]) === word ? 0.1 : 0);
    },
  });
}

/** Probability of the exact answer; mean over the tasks of training of these kinds. */
const exact = (policy: Model, environment: Environment, of: readonly Kind[]): Promise<number> =>
  meanOver(
    environment.tasks("train").filter((task) => of.includes(kindOf(task))),
    async (task) => (await replyProbabilities(policy, task, [truthOf(task).join(" ")]))[0]!,
  );

const arm = (what: string, recipe: Recipe) =>
  trainingArm({
    what,
    recipe,
    environment: world,
    engine,
    iterations: 1000,
    episodes: 12 * 24 * 8,
    settings: { ...plainAscent, tasks: 12, groupSize: 8 },
    grid: [30, 60, 100, 200, 500, 1000].map((learningRate) => ({ learningRate })),
    follow: (policy, environment) => exact(policy, environment, kinds),
    metric: ({ policy }, seed) => exact(policy, world(seed), kinds),
    more: async ({ policy }, seed) => {
      const each = await Promise.all(kinds.map((kind) => exact(policy, world(seed), [kind])));
      return Object.fromEntries(kinds.map((kind, i) => [kind, each[i]!]));
    },
  });

export default defineCheck({
  id: "videossr",
  level: "table",
  simpler: ["baseline"],
  claim: "Graded rewards teach to answer altered videos exactly sooner than rewards for exact answers alone.",
  metric:
    "probability of the exact answer after 2304 answers, those of the filter included, exact; mean over the tasks",
  direction: "higher",
  smallestEffect: 0.05,
  range: [0, 1],
  notes:
    "Graded rewards teach the order of six pieces, which is hardly ever found by chance, and are slower where a first exact answer comes soon: in a table one such answer teaches all of it, while near answers teach near ones as well. The filter leaves nothing out here, since every task has answers that are worth something: what is compared is the reward. Tried on other seeds: shorter answers and up to 50 iterations, after which both arms answer nearly all, and half as many answers, after which neither does. Whether what is learnt helps with other questions about videos, which is the paper's use, needs a model that sees.",
  baseline: arm("GRPO, exact answers are paid", grpo),
  method: arm("graded rewards", videossr),
});
