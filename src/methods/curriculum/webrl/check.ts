import type { Model } from "../../../core/model.ts";
import { meanOver, replyProbabilities } from "../../../diagnose/replyProbabilities.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import type { Recipe } from "../../../method/method.ts";
import { type Choice, defineCheck } from "../../../train/check.ts";
import { plainAscent, trainingArm } from "../../../train/trainingArm.ts";
import { rejectionSampling } from "../../baseline/rejection-sampling/method.ts";
import { webrl } from "./method.ts";
import { orderOf, seenAt, shop, shopPolicy } from "./shop.ts";

/** Probability that an order is right, exact; mean over the orders of the test. */
const fulfilled = (policy: Model, seed: number): Promise<number> =>
  meanOver(shop(seed).tasks("test"), async (task) => {
    let whole = 1;
    for (const [slot, button] of orderOf(task).right.entries()) {
      const asked = { ...task, prompt: [{ role: "user" as const, content: seenAt(task, slot) }] };
      whole *= (await replyProbabilities(policy, asked, [button]))[0]!;
    }
    return whole;
  });

/** The critic's step is the same everywhere. */
const rates = (...rates: readonly number[]): Choice[] =>
  rates.map((learningRate) => ({ learningRate, criticRate: 3 / learningRate }));
const tied = [0.3, 0.1].flatMap((beta) => rates(60, 150).map((choice) => ({ ...choice, beta })));

const arm = (what: string, recipe: Recipe, grid: readonly Choice[]) =>
  trainingArm({
    what,
    recipe,
    environment: shop,
    engine: () => tabularEngine(shopPolicy),
    iterations: 40,
    settings: { ...plainAscent, tasks: 8, groupSize: 4 },
    grid,
    metric: ({ policy }, seed) => fulfilled(policy, seed),
    more: ({ curve }) => ({
      "success in training, last phase": curve
        .slice(-10)
        .reduce((sum, { success = 0 }) => sum + success / 10, 0),
    }),
  });

const with_ = (options: { readonly replayed?: number; readonly chosen?: boolean }): Recipe => ({
  ...webrl,
  build: (settings, given) => webrl.build(settings, { ...given, ...options }),
});

export default defineCheck({
  id: "webrl",
  level: "table",
  simpler: ["baseline", "loss alone", "no replay"],
  claim:
    "Phases on tasks like the failed ones, with replayed successes and a loss tied to the last phase, teach more orders than imitating the successes at all tasks.",
  metric: "probability that an order is right, exact, mean over orders that were not trained on",
  direction: "higher",
  smallestEffect: 0.03,
  range: [0, 1],
  notes:
    "β = 1, and β = 0.3 with a step of 30, came to less than a step of 100 with either β on two other seeds. Replay adds little here (0.68 without it), and the loss alone is ahead of imitation already. The critic's step is 3 throughout; a tenth of the policy's made it unstable at a step of 100.",
  baseline: arm("imitates its own successes", rejectionSampling, rates(3, 6, 12, 24)),
  method: arm("phases, replay and the tied loss", webrl, tied),
  others: {
    "loss alone": arm(
      "the tied loss on all tasks, without replay",
      with_({ replayed: 0, chosen: false }),
      tied,
    ),
    "no replay": arm("phases and the tied loss", with_({ replayed: 0 }), tied),
  },
});
