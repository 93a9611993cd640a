import { expectedValue, meanOver } from "../../../diagnose/replyProbabilities.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { outcome } from "../../../feedback/outcome.ts";
import type { Recipe } from "../../../method/method.ts";
import { method } from "../../../method/method.ts";
import { defineCheck } from "../../../train/check.ts";
import type { TrainedInMemory } from "../../../train/trainInMemory.ts";
import { plainAscent, trainingArm } from "../../../train/trainingArm.ts";
import { hindsightRatings } from "./hindsightRatings.ts";
import { rlhs } from "./method.ts";
import { beliefAfter, buyingChance, ratingAtOnce, shop, shopReplies, shopWorld, worthOf } from "./shop.ts";

const environment = (seed: number) => shop({ seed });

/** Σ over replies of π(reply) · value(reply), exact, mean over held-out customers. */
const expected = (
  { policy }: TrainedInMemory,
  seed: number,
  value: (...of: Parameters<typeof buyingChance>) => number,
): Promise<number> =>
  meanOver(environment(seed).tasks("test"), (task) =>
    expectedValue(policy, task, shopReplies, (reply) => value(task, reply)),
  );

const arm = (recipe: Recipe, what: string) =>
  trainingArm({
    recipe,
    what,
    environment,
    // two rows: the assistant sees only whether the article has the feature
    engine: () =>
      tabularEngine({
        context: "message",
        prior: (_context, word) => (shopReplies.includes(word) ? 0 : -1e9),
        features: (context) => [context.includes("not") ? "lacks it" : "has it"],
      }),
    settings: { ...plainAscent, tasks: 16, groupSize: 4 },
    grid: [3, 10, 100, 1000, 10_000].map((learningRate) => ({ learningRate })),
    iterations: 40,
    metric: (done, seed) => expected(done, seed, (task, reply) => buyingChance(task, reply) * worthOf(task)),
    more: async (done, seed) => ({
      rating: await expected(done, seed, (task, reply) =>
        ratingAtOnce(task, reply, buyingChance(task, reply)),
      ),
      false: await expected(done, seed, (task, reply) =>
        Number(beliefAfter(reply) === Number(worthOf(task) < 0)),
      ),
    }),
  });

const rated = (feedback: ReturnType<typeof outcome>): Recipe =>
  method({ id: "variant", family: "user-feedback", summary: "a variant of rlhs", slots: { feedback } });

export default defineCheck({
  id: "rlhs",
  level: "table",
  simpler: ["blind"],
  claim:
    "Practised on ratings given in hindsight an assistant serves customers better than on ratings given at once.",
  metric:
    "true utility of a visit in units of what a useful article is worth, expected of the trained policy, exact",
  direction: "higher",
  smallestEffect: 0.05,
  range: "unbounded",
  tuningSeeds: 3,
  notes:
    "Always telling the truth is worth 0.29 to a customer, always saying yes 0.10. `rating` is the mean rating at once, `false` the share of false claims. A world model that is wrong of every fifth article serves as well as the facts, since errors that are as likely either way do not move what is best; one that knows nothing of the article at hand is no hindsight at all.",
  baseline: arm(rated(outcome({ rewards: ["rating"] })), "ratings at once"),
  method: arm(rlhs, "ratings in hindsight"),
  others: {
    full: arm(
      rated(hindsightRatings({ world: shopWorld(), shown: "full" })),
      "in full hindsight, what was not taken included",
    ),
    model: arm(
      rated(hindsightRatings({ world: shopWorld(0.8) })),
      "after a world model, wrong of every fifth article",
    ),
    blind: arm(
      rated(hindsightRatings({ world: shopWorld(0.5) })),
      "after a world model that knows nothing of the case",
    ),
  },
});
