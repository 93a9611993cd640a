import { mean } from "../../../common/statistics/statistics.ts";
import type { Model } from "../../../core/model.ts";
import { randomStream } from "../../../core/random.ts";
import type { OptionValue } from "../../../core/slots.ts";
import { replyProbabilities } from "../../../diagnose/replyProbabilities.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import type { Recipe } from "../../../method/method.ts";
import { defineCheck } from "../../../train/check.ts";
import { plainAscent, trainingArm } from "../../../train/trainingArm.ts";
import { introspection, judgementOf, labels, truthOf } from "./introspection.ts";
import { knowrlSelfKnowledge } from "./method.ts";

const kinds = Array.from({ length: 20 }, (_, k) => `k${k}`);

/** Judges each kind by a belief of its own, which is right with this probability; proposes anything. */
const engine = (seed: number, right: number) =>
  tabularEngine({
    context: "message",
    prior: (context, word) => {
      const said = context.length - 1 - context.lastIndexOf("<assistant>");
      if (said === 1) return /^k\d+$/.test(word) ? 0 : -1e9;
      if (!labels.some((label) => label === word)) return -1e9;
      const kind = context.find((seen) => /^k\d+$/.test(seen));
      if (kind === undefined) return 0;
      const random = randomStream(seed).split("belief", kind);
      const isRight = random.next() < right;
      const size = Math.abs(0.8 + 0.5 * random.normal());
      return (word === truthOf(kind, seed)) === isRight ? size : 0;
    },
  });

/** Exact: probability that a judgement is true, and that two judgements agree; means over kinds. */
async function judging(policy: Model, seed: number) {
  const each = await Promise.all(
    kinds.map(async (kind) => {
      const [yes, no] = await replyProbabilities(policy, judgementOf(kind), labels);
      return { right: truthOf(kind, seed) === labels[0] ? yes! : no!, agree: yes! ** 2 + no! ** 2 };
    }),
  );
  return { right: mean(each.map(({ right }) => right)), agree: mean(each.map(({ agree }) => agree)) };
}

const arm = (what: string, options: Readonly<Record<string, OptionValue>>, right = 0.75) =>
  trainingArm({
    what,
    recipe: {
      ...knowrlSelfKnowledge,
      build: (settings) => knowrlSelfKnowledge.build(settings, { proposals: 16, judgements: 8, ...options }),
    } satisfies Recipe,
    environment: (seed) => introspection({ kinds: kinds.length, seed }),
    engine: (seed) => engine(seed, right),
    iterations: 25,
    settings: { ...plainAscent },
    grid: [1, 3, 10, 30, 100].map((learningRate) => ({ learningRate })),
    metric: async ({ policy }, seed) => (await judging(policy, seed)).right,
    more: async ({ policy, curve }, seed) => ({
      "two judgements agree": (await judging(policy, seed)).agree,
      "true proposals, last": mean(curve.slice(-5).map((m) => m.true ?? 0)),
    }),
  });

export default defineCheck({
  id: "knowrl-self-knowledge",
  level: "table",
  simpler: ["baseline"],
  claim:
    "Where beliefs are mostly right, being paid for consistent judgements makes a policy judge more truly what it can do.",
  metric: "probability that a judgement of a kind of task is true, exact, after 25 cycles",
  direction: "higher",
  smallestEffect: 0.03,
  range: [0, 1],
  unequalCost:
    "equal cycles; the judgements of a cycle are as many as its different proposals, which grow fewer as proposals repeat",
  notes:
    "Consistency sharpens what was believed: where beliefs are mostly wrong, the same training makes judgements less true (see the arms with 0.35). Proposals alone leave judgements as they are, since a table shares nothing between the two.",
  baseline: arm("proposals alone are trained", { judge: false }),
  method: arm("proposals and judgements, agreement with the label", {}),
  others: {
    consensus: arm("proposals are paid for any agreement", { reward: "consensus" }),
    "wrong beliefs": arm("the method where beliefs are right with probability 0.35", {}, 0.35),
    "wrong beliefs, proposals alone": arm("proposals alone, beliefs right with 0.35", { judge: false }, 0.35),
  },
});
