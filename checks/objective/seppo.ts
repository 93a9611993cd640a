import { preferencePairs } from "../../src/advantage/preferencePairs.ts";
import { pairRows } from "../../src/core/pack.ts";
import { drawnFromPool, pool } from "../../src/core/pool.ts";
import { mean } from "../../src/core/statistics.ts";
import { tabularEngine } from "../../src/engine/tabular/engine.ts";
import { annotated, qualitiesOf, wordsOf } from "../../src/env/annotated.ts";
import { demonstrationsWin } from "../../src/feedback/demonstrationsWin.ts";
import { sft } from "../../src/method/baseline/sft.ts";
import { method, type Recipe } from "../../src/method/index.ts";
import { seppo } from "../../src/method/objective/seppo.ts";
import { pairwise } from "../../src/objective/pairwise.ts";
import { withDemonstrations } from "../../src/rollout/demonstrated.ts";
import { pastSelf } from "../../src/rollout/pastSelf.ts";
import { armOf, defineCheck, type Practised } from "../../src/train/index.ts";

const environment = (seed: number) => annotated({ seed, questions: 30, topics: 5 });

/** One table for each topic: the question's own word is not looked at. After the reply there is only its end. */
const engine = () =>
  tabularEngine({
    context: 3,
    prior: (context, word) =>
      /^a\d+$/.test(context.at(-1) ?? "") === (word === "<end>") && /^a\d+$|<end>/.test(word) ? 0 : -1e9,
  });

/** Exact expected quality of a reply, mean over topics. */
async function quality({ policy }: Practised, seed: number): Promise<number> {
  const tasks = environment(seed).tasks("test");
  const each = tasks.map(async (task) => {
    const ids = Int32Array.from(wordsOf(task), (word) => policy.codec.encode(word)[0]!);
    const rows = pairRows([{ prompt: policy.codec.open(task.prompt), target: ids.subarray(0, 1) }]);
    const { at } = await policy.score(rows, { at: { ids, width: ids.length } });
    return at!.reduce((sum, logp, i) => sum + Math.exp(logp) * qualitiesOf(task)[i]!, 0);
  });
  return mean(await Promise.all(each));
}

/** SePPO with another pool, or without the anchor. */
const variant = (id: string, summary: string, size: number, rejected: number | "anchored"): Recipe =>
  method({
    id,
    family: "objective",
    summary,
    defaults: { epochs: 8, minibatches: 1 },
    frozen: pool(size),
    slots: ({ groupSize, temperature }) => ({
      rollout: withDemonstrations(pastSelf({ size, groupSize, temperature })),
      feedback: demonstrationsWin(),
      advantage: preferencePairs(),
      objective: pairwise({
        model: "policy",
        beta: 1,
        rejected,
        against: (ctx) => ({ [drawnFromPool(ctx, size)]: 1 }),
      }),
    }),
  });

const arm = (recipe: Recipe) =>
  armOf({
    recipe,
    environment,
    engine,
    iterations: 40,
    settings: { tasks: 30, groupSize: 1, epochs: 8, minibatches: 1, warmUp: 0, schedule: "constant" },
    grid: [0.02, 0.05, 0.12, 0.3].map((learningRate) => ({ learningRate })),
    metric: quality,
    more: ({ curve }) => ({ entropy: curve.at(-1)!.entropy ?? Number.NaN }),
  });

export default defineCheck({
  id: "seppo",
  claim:
    "Learning from demonstrations alone, an earlier self as opponent and an anchor keep the last policy better than taking every sample of an earlier self for a loser.",
  metric: "expected quality of replies after 40 iterations, exact",
  direction: "higher",
  smallestEffect: 0.02,
  baseline: arm(variant("unanchored", "random checkpoint, its replies always lose", 8, 1)),
  method: arm(seppo),
  others: { SFT: arm(sft) },
});
