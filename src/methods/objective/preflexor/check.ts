import { constant } from "../../../advantage/constant.ts";
import { outcomePairs } from "../../../advantage/outcomePairs.ts";
import { mean } from "../../../common/statistics/statistics.ts";
import { pairRows } from "../../../common/tokens/pack.ts";
import type { Model } from "../../../core/model.ts";
import { randomStream } from "../../../core/random.ts";
import type { Task } from "../../../core/types.ts";
import { type Prior, tabularEngine } from "../../../engine/tabular/engine.ts";
import { method, type Recipe } from "../../../method/method.ts";
import { pairwise } from "../../../objective/pairwise.ts";
import { type Arm, defineCheck } from "../../../train/check.ts";
import { trainInMemory } from "../../../train/trainInMemory.ts";
import { hopsOf, lookups, spelling } from "./lookups.ts";
import { preflexor } from "./method.ts";

const [questions, keys, spellings] = [10, 6, 4];
const environment = (seed: number) => lookups({ seed, questions, keys, spellings });
const thoughts = Array.from({ length: keys * spellings }, (_, i) =>
  spelling(Math.floor(i / spellings), i % spellings),
);

/** Initially well-formed thoughts with the right key in 60 % of the cases; after a right key the right value is likelier. */
function engine(seed: number) {
  const byWord = new Map(
    environment(seed)
      .tasks("train")
      .map((t) => [t.prompt[0]!.content, hopsOf(t)]),
  );
  const random = randomStream(seed).split("prior");
  const never = -1e9;
  const prior: Prior = (context, word) => {
    const hops = byWord.get(context[1] ?? "");
    const said = context.slice(context.indexOf("<assistant>") + 1);
    if (said.length % 2 === 0) return word === (said.length === 0 ? "think" : "so") ? 0 : never;
    const isRight = (thought: string): boolean => thought.startsWith(`k${hops?.key}.`);
    const noise = 0.5 * random.split(...context, "then", word).normal();
    if (said.length === 1) return word.startsWith("k") ? noise + (isRight(word) ? 2 : 0) : never;
    if (!word.startsWith("v")) return never;
    return noise + (isRight(said[1] ?? "") && word === hops?.value ? 1.5 : 0);
  };
  return tabularEngine({ context: "message", prior });
}

/** Exact, of the policy at one question: success, entropy of the thought in nats, probability of the right key. */
async function look({ codec, score }: Model, task: Task) {
  const prompt = codec.open(task.prompt);
  const { logp } = await score(
    pairRows(
      thoughts.map((thought) => ({
        prompt,
        target: codec.encode(`think ${thought} so ${hopsOf(task).value}`),
      })),
    ),
  );
  let [success, entropy, rightKey] = [0, 0, 0];
  thoughts.forEach((thought, i) => {
    const [lp, p] = [logp[4 * i + 1]!, Math.exp(logp[4 * i + 1]!)];
    success += p * Math.exp(logp[4 * i + 3]!);
    entropy -= p * lp;
    if (thought.startsWith(`k${hopsOf(task).key}.`)) rightKey += p;
  });
  return { success, entropy, rightKey };
}

const level = 0.8;

const arm = (recipe: Recipe): Arm => ({
  what: recipe.summary,
  grid: [0.03, 0.1, 0.3, 1].map((learningRate) => ({ learningRate })),
  async measure(choice, seed) {
    const tasks = environment(seed).tasks("train");
    const seen: { success: number; entropy: number; rightKey: number }[] = [];
    const { counters } = await trainInMemory({
      environment: environment(seed),
      engine: engine(seed),
      method: recipe.build({
        tasks: questions,
        minibatches: 1,
        schedule: "constant",
        warmUp: 0,
        learningRate: Number(choice.learningRate),
      }),
      seed,
      iterations: 40,
      onIteration: async (_done, _state, policy) => {
        const all = await Promise.all(tasks.map((task) => look(policy, task)));
        seen.push({
          success: mean(all.map((x) => x.success)),
          entropy: mean(all.map((x) => x.entropy)),
          rightKey: mean(all.map((x) => x.rightKey)),
        });
      },
    });
    return {
      value: seen.find((x) => x.success >= level)?.entropy ?? Number.NaN,
      cost: { episodes: counters.episodes ?? 0, tokens: counters["tokens.sampled"] ?? 0 },
      curve: seen.map((x) => x.success),
      more: {
        "success at the end": seen.at(-1)!.success,
        "right key at the end": seen.at(-1)!.rightKey,
        "entropy at the end": seen.at(-1)!.entropy,
        "iterations until 0.8": seen.findIndex((x) => x.success >= level) + 1,
      },
    };
  },
});

const unmasked = method({
  ...preflexor,
  summary: "the same loss over thoughts and answers",
  slots: (s) => ({ ...preflexor.build(s).slots, advantage: [constant(), outcomePairs()] }),
});

const logistic = method({
  ...preflexor,
  summary: "answers alone, with the logistic loss of DPO",
  slots: (s) => ({ ...preflexor.build(s).slots, objective: pairwise() }),
});

export default defineCheck({
  id: "preflexor",
  level: "table",
  claim: "At equal success, thoughts that stay out of the loss remain as varied as they were.",
  metric: "entropy of the thought when success first reaches 0.8, nats, exact",
  direction: "higher",
  smallestEffect: 0.1,
  tuningSeeds: 2,
  baseline: arm(unmasked),
  method: arm(preflexor),
  notes:
    "In a table nothing is shared between thoughts and answers, so the mask leaves thoughts exactly as they were, by construction; what is to be seen is what the unmasked loss does to them, and that success gets there without. At an equal step size it takes three times as many updates, and wrong keys stay as likely as they were.",
  others: { logistic: arm(logistic) },
});
