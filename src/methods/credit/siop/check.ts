import { randomStream } from "../../../core/random.ts";
import { type Prior, tabularEngine } from "../../../engine/tabular/engine.ts";
import { method, type Recipe } from "../../../method/method.ts";
import { defineCheck } from "../../../train/check.ts";
import { finalSuccess, trainingArm } from "../../../train/trainingArm.ts";
import { answerClusters } from "./answerClusters.ts";
import { hearsay } from "./hearsay.ts";
import { majorityVote } from "./majorityVote.ts";
import { siop } from "./method.ts";

const environment = (seed: number) => hearsay({ questions: 24, seed });

/** The initial policy weakly prefers the right answer, has random logits for wrong ones, and favours a tool's answer. */
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
    if (verb === undefined) return word === (said[0] === "which" ? "use" : "answer") ? 0 : never;
    if (verb === "use") return /^(t\d|none)/.test(word) ? 0 : never;
    if (!/^a\d/.test(word)) return never;
    if (said[0] === "which") return 0;
    const known = word === right.get(said[0]!) ? 1.3 : 0;
    return known + random.split(said[0]!, word).normal() + (word === said[2] ? 3 : 0);
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

const arm = (recipe: Recipe) =>
  trainingArm({
    recipe,
    environment,
    engine,
    iterations: 30,
    settings: { tasks: 24, groupSize: 8, minibatches: 1, schedule: "constant", warmUp: 0 },
    grid: [0.1, 0.2, 0.4, 0.8, 1.6].map((learningRate) => ({ learningRate })),
    metric: finalSuccess(10),
    more: ({ curve }) => ({ "success at first": curve[0]!.success! }),
  });

export default defineCheck({
  id: "siop",
  level: "table",
  claim:
    "Trusting clusters of answers by what was observed, turn by turn, beats a majority vote without a verifier.",
  metric: "true success in the last 10 of 30 updates",
  direction: "higher",
  smallestEffect: 0.03,
  range: [0, 1],
  tuningSeeds: 2,
  baseline: arm(majority),
  method: arm(siop),
  notes:
    "With rises and trust in one pool, as published, the answering turn lies below the pool's mean whatever it says, and success fell from 0.29 to 0.25: two pools are ours. A first form, in which each question had to learn its own tool, was not reproduced: 0.695 against 0.765 of a majority vote (20 seeds), clusters trusted by size alone 0.665. Here the choice of a tool is shared by all questions.",
});
