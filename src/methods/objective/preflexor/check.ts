import { constant } from "../../../advantage/constant.ts";
import { outcomePairs } from "../../../advantage/outcomePairs.ts";
import { mean } from "../../../common/statistics/statistics.ts";
import { pairRows } from "../../../common/tokens/pack.ts";
import type { Model } from "../../../core/model.ts";
import { randomStream } from "../../../core/random.ts";
import type { Task } from "../../../core/types.ts";
import { type Prior, tabularEngine } from "../../../engine/tabular/engine.ts";
import { method, type Recipe } from "../../../method/method.ts";
import { type Arm, defineCheck } from "../../../train/check.ts";
import { trainInMemory } from "../../../train/trainInMemory.ts";
import { hopsOf, lookups, spelling } from "./lookups.ts";
import { preflexor } from "./method.ts";

const [questions, keys, spellings] = [5, 10, 3];
const [groupSize, iterations] = [4, 15];
const environment = (seed: number) => lookups({ seed, questions, keys, spellings });
const thoughts = Array.from({ length: keys * spellings }, (_, i) =>
  spelling(Math.floor(i / spellings), i % spellings),
);

/** Initially well-formed thoughts with the right key in about 45 % of the cases; after a right key the right value is likelier. */
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

const arm = (recipe: Recipe): Arm => ({
  what: recipe.summary,
  grid: [0.1, 0.3, 1, 3].map((learningRate) => ({ learningRate })),
  async measure(choice, seed) {
    const tasks = environment(seed).tasks("train");
    const seen: { success: number; entropy: number; rightKey: number }[] = [];
    const { counters } = await trainInMemory({
      environment: environment(seed),
      engine: engine(seed),
      method: recipe.build({
        tasks: questions,
        groupSize,
        minibatches: 1,
        schedule: "constant",
        warmUp: 0,
        learningRate: Number(choice.learningRate),
      }),
      seed,
      iterations,
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
      value: mean(seen.map((x) => x.success)),
      cost: { episodes: counters.episodes ?? 0, tokens: counters["tokens.sampled"] ?? 0 },
      curve: seen.map((x) => x.success),
      more: {
        "success at the end": seen.at(-1)!.success,
        "right key at the end": seen.at(-1)!.rightKey,
        "entropy of the thought at the end": seen.at(-1)!.entropy,
      },
    };
  },
});

const unmasked = method({
  ...preflexor,
  summary: "the same loss over thoughts and answers",
  slots: (s) => ({ ...preflexor.build(s).slots, advantage: [constant(), outcomePairs()] }),
});

export default defineCheck({
  id: "preflexor",
  level: "table",
  claim:
    "With thoughts out of the loss, preference pairs teach right answers faster than with thoughts in it.",
  metric: "success, mean over 15 updates, exact",
  direction: "higher",
  smallestEffect: 0.05,
  range: [0, 1],
  baseline: arm(unmasked),
  method: arm(preflexor),
  simpler: ["baseline"],
  notes:
    "Checked is the mask alone. Recursive inference, in which a critic improves the thought and the answer is written anew, is not built, nor is the phase that teaches the format. An earlier design measured how varied thoughts remain, which the mask settles by construction in a table: nothing is shared between thoughts and answers, so thoughts stay as they were, wrong ones included. The logistic loss of DPO on answers alone did as well as the method's there. A second design, six keys and eight attempts at a question, was refused as too easy: the opponent's mean was 0.994.",
});
