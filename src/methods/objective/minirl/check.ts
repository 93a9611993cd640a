import { pack, withColumns } from "../../../common/tokens/pack.ts";
import { concatIds } from "../../../common/tokens/sequence.ts";
import type { Batch } from "../../../core/batch.ts";
import type { Ctx } from "../../../core/context.ts";
import type { Codec } from "../../../core/model.ts";
import type { Objective } from "../../../core/objective.ts";
import { randomStream } from "../../../core/random.ts";
import type { Stats, Task } from "../../../core/types.ts";
import { replyProbabilities } from "../../../diagnose/replyProbabilities.ts";
import { method } from "../../../method/method.ts";
import { policyGradient } from "../../../objective/policyGradient.ts";
import { type Arm, defineCheck } from "../../../train/check.ts";
import { trainInMemory } from "../../../train/trainInMemory.ts";
import { scattered } from "../../../worlds/arms/sequences.ts";
import { type Sequences, sequences } from "../../../worlds/sequences.ts";
import { minirl } from "./method.ts";

/** Standard deviation of the difference between the sampler's and the trainer's logits. */
const noise = 0.6;

/** Every answer to a task as one row: its probability, and its reward minus the mean. */
function rowsOf(task: Task, env: Sequences, codec: Codec, p: Float64Array) {
  const prompt = codec.open(task.prompt);
  const pay = env.all.map((answer) => env.payOf(task, answer));
  const mean = pay.reduce((sum, r, i) => sum + r * p[i]!, 0);
  return env.all.map((answer, i) => {
    const action = codec.encode(answer);
    const over = (x: number): Float32Array => new Float32Array(action.length).fill(x);
    return {
      info: {
        trajectory: answer,
        task: task.id,
        role: "agent",
        model: "policy",
        version: "0",
        origin: "sampled" as const,
        context: "sampled" as const,
        unit: answer,
        group: task.id,
        from: 0,
      },
      tokens: concatIds([prompt, action]),
      targets: Int32Array.from(action, (_, k) => prompt.length + k),
      turn: new Int32Array(action.length),
      logp: over(Number.NaN),
      behaviour: over(Number.NaN),
      advantage: over(pay[i]! - mean),
      weight: over(p[i]!),
    };
  });
}

/** Cosine between a loss's expected gradient under the sampler and the exact one of the expected reward. */
async function cosine(ctx: Ctx, seed: number, objective: Objective): Promise<Stats> {
  const env = environment(seed);
  const policy = ctx.model();
  const stream = randomStream(seed).split("noise");
  const bias = (context: readonly string[], word: string): number =>
    noise * stream.split(context.join(" "), word).normal();
  const sampler = await scattered(seed, 1, { bias }).create({
    id: "sampler",
    seed,
    vocabulary: env.vocabulary?.() ?? [],
    contextTokens: 64,
  });
  const under = async (model: Parameters<typeof replyProbabilities>[0]): Promise<Batch> => {
    const tasks = env.tasks("train");
    const all = await Promise.all(tasks.map((task) => replyProbabilities(model, task, env.all)));
    const batch = pack(
      tasks.flatMap((task, i) => rowsOf(task, env, policy.codec, all[i]!)),
      [],
    );
    return { ...batch, behaviour_A: (await model.score(batch)).logp };
  };
  const learn = async (batch: Batch, o: Objective, into: string): Promise<void> => {
    const whole = withColumns(batch, (await o.columns?.(ctx, batch)) ?? {});
    await policy.accumulate(whole, o, await o.prepare(ctx, whole), into);
  };
  await learn(await under(policy), policyGradient({ normaliser: { constant: 1 } }), "exact");
  await learn(await under(sampler), objective, "loss");
  const dot = async (a: string, b: string): Promise<number> =>
    (await policy.gradients?.dot(a, b)) ?? Number.NaN;
  const length = Math.sqrt((await dot("exact", "exact")) * (await dot("loss", "loss")));
  return { steps: 0, cosine: (await dot("exact", "loss")) / length };
}

const environment = (seed: number) =>
  sequences({ questions: 4, length: 6, vocabulary: 3, pay: { kind: "right", share: 60 / 729 }, seed });

const arm = (what: string, objective: Objective): Arm => ({
  what,
  grid: [{}],
  async measure(_choice, seed) {
    const looked = method({
      id: "looked-at",
      family: "objective",
      summary: "the direction of one loss, exactly",
      slots: {
        rollout: async () => ({ trajectories: [], units: [] }),
        objective,
        update: (ctx) => cosine(ctx, seed, objective),
      },
    });
    const { curve } = await trainInMemory({
      environment: environment(seed),
      method: looked.build(),
      engine: scattered(seed, 1),
      seed,
      iterations: 1,
    });
    return { value: curve[0]!.cosine!, cost: { episodes: 0, tokens: 0 } };
  },
});

export default defineCheck({
  id: "minirl",
  level: "law",
  claim:
    "Token weights against the sampler bring the gradient nearer to that of the expected reward than none do.",
  metric: "cosine with the exact gradient, in expectation over a sampler that disagrees with the trainer",
  direction: "higher",
  smallestEffect: 0.02,
  range: [-1, 1],
  tuningSeeds: 3,
  baseline: arm("the same samples without weights", policyGradient({ normaliser: { constant: 1 } })),
  method: arm("MiniRL's loss", minirl.build().slots.objective[0]!),
});
