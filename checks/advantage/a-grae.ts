import { pairRows } from "../../src/core/pack.ts";
import { type Prior, tabularEngine } from "../../src/engine/tabular/engine.ts";
import { answers, rightOf } from "../../src/env/answers.ts";
import { aGrae } from "../../src/method/advantage/a-grae.ts";
import { grpo } from "../../src/method/baseline/grpo.ts";
import { armOf, defineCheck, type PracticeArm, type Practised } from "../../src/train/index.ts";

/** Of each question one right word begins as the likeliest of them; how likely depends on the question. */
const environment = (seed: number) => answers({ seed });

function engine(seed: number) {
  const tasks = new Map(
    environment(seed)
      .tasks("train")
      .map((t) => [t.prompt[0]!.content, t]),
  );
  const prior: Prior = (context, word) => {
    if (!/^a\d+$/.test(word)) return -1e9;
    const task = tasks.get(context[1] ?? "");
    const [first, ...others] = task ? rightOf(task) : [];
    const ease = 3 - (Number(task?.metadata.index ?? 0) % 3);
    return word === first ? ease : others.includes(word) ? 0.5 : 0;
  };
  return tabularEngine({ context: "message", prior });
}

/** Exact probability that 16 samples hold a right word, over the practised questions. */
async function passAt16({ policy }: Practised, seed: number): Promise<number> {
  let sum = 0;
  const tasks = environment(seed).tasks("train");
  for (const task of tasks) {
    const prompt = policy.codec.open(task.prompt);
    const ids = Int32Array.from(rightOf(task).flatMap((word) => [...policy.codec.encode(word)]));
    const { at } = await policy.score(pairRows([{ prompt, target: ids.subarray(0, 1) }]), {
      at: { ids, width: ids.length },
    });
    const p = at!.reduce((total, logp) => total + Math.exp(logp), 0);
    sum += 1 - (1 - Math.min(1, p)) ** 16;
  }
  return sum / tasks.length;
}

const arm = (recipe: PracticeArm["recipe"]) =>
  armOf({
    recipe,
    environment,
    engine,
    iterations: 200,
    settings: { tasks: 10, groupSize: 8, minibatches: 1, schedule: "constant", warmUp: 0 },
    grid: [{ learningRate: 0.03 }, { learningRate: 0.1 }, { learningRate: 0.3 }, { learningRate: 1 }],
    metric: passAt16,
    more: ({ curve }) => ({ success: curve.at(-1)!.success!, entropy: curve.at(-1)!.entropy! }),
  });

export default defineCheck({
  id: "a-grae",
  claim: "Breaking both symmetries keeps more right answers within reach than GRPO does.",
  metric: "pass@16 after 200 updates, exact",
  direction: "higher",
  smallestEffect: 0.01,
  baseline: arm(grpo),
  method: arm(aGrae),
});
