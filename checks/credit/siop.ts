import { pooledReturns } from "../../src/advantage/pooledReturns.ts";
import { answerClusters } from "../../src/annotate/answerClusters.ts";
import { randomStream } from "../../src/core/random.ts";
import { perTurn } from "../../src/credit/perTurn.ts";
import { type Prior, tabularEngine } from "../../src/engine/tabular/engine.ts";
import { hearsay } from "../../src/env/hearsay.ts";
import { inducedOutcome } from "../../src/feedback/inducedOutcome.ts";
import { majorityVote } from "../../src/feedback/majorityVote.ts";
import { siop } from "../../src/method/credit/siop.ts";
import { method, type Recipe } from "../../src/method/index.ts";
import { armOf, defineCheck, finalSuccess } from "../../src/train/index.ts";

const environment = (seed: number) => hearsay({ questions: 24, seed });

/** Remembers the right answer a little, each wrong one by chance, and is drawn to what a tool said. */
function engine(seed: number) {
  const right = new Map(
    environment(seed)
      .tasks("train")
      .map((t) => [t.prompt[0]!.content, t.reference]),
  );
  const random = randomStream(seed).split("memory");
  const prior: Prior = (context, word) => {
    const said = context.slice(1, context.indexOf("<end>"));
    const [verb] = context.slice(context.indexOf("<assistant>") + 1);
    if (verb === undefined) return word === "use" ? Math.log(2) : word === "answer" ? 0 : never;
    if (verb === "use") return /^t\d/.test(word) ? 0 : never;
    if (!/^a\d/.test(word)) return never;
    const known = word === right.get(said[0]!) ? 2 : 0;
    return known + random.split(said[0]!, word).normal() + (word === said[2] ? 4 : 0);
  };
  return tabularEngine({ context: "message", prior });
}

const never = -1e9;

const majority = method({
  id: "majority-vote",
  family: "credit",
  summary: "1 for the group's most frequent answer",
  slots: { annotate: answerClusters(), feedback: majorityVote() },
});

const unsupported = method({
  id: "siop-unsupported",
  family: "credit",
  summary: "clusters trusted by their size alone",
  frozen: { reference: {} },
  slots: {
    annotate: answerClusters({ scorer: "reference", support: 0 }),
    feedback: inducedOutcome(),
    credit: perTurn(),
    advantage: pooledReturns(),
  },
});

const arm = (recipe: Recipe) =>
  armOf({
    recipe,
    environment,
    engine,
    iterations: 40,
    settings: { tasks: 24, groupSize: 8, minibatches: 1, schedule: "constant", warmUp: 0 },
    grid: [0.05, 0.1, 0.2, 0.4].map((learningRate) => ({ learningRate })),
    metric: finalSuccess(10),
    more: ({ curve }) => ({ "success at first": curve[0]!.success! }),
  });

export default defineCheck({
  id: "siop",
  claim:
    "Trusting clusters of answers by what was observed, turn by turn, beats a majority vote without a verifier.",
  metric: "true success in the last 10 of 40 updates",
  direction: "higher",
  smallestEffect: 0.03,
  tuningSeeds: 2,
  baseline: arm(majority),
  method: arm(siop),
  notes:
    "With rises and trust in one pool, as published, the answering turn lies below the pool's mean whatever it says, and success fell from 0.29 to 0.25: two pools are ours. Contexts are tables here, so that every question learns its own tool.",
  others: { "size alone": arm(unsupported) },
});
