import { pairRows } from "../../../common/tokens/pack.ts";
import { type Prior, tabularEngine } from "../../../engine/tabular/engine.ts";
import { defineCheck } from "../../../train/check.ts";
import type { TrainedInMemory } from "../../../train/trainInMemory.ts";
import { meanSuccess, type TrainingArm, trainingArm } from "../../../train/trainingArm.ts";
import { grpo } from "../../baseline/grpo/method.ts";
import { cleaner } from "./method.ts";
import { planAndCall, syntaxOf } from "./planAndCall.ts";

const environment = (seed: number) => planAndCall({ seed });

/** Plans are uniform, calls usually follow the plan; both words are well-formed with probability 0.41, after an error 0.77. */
function engine(seed: number) {
  const syntax = syntaxOf(environment(seed).tasks("train")[0]!);
  const shape = [/^plan/, /^<tool_call>$/, /^op/, /^w/, /^w/];
  const prior: Prior = (context, word) => {
    const reply = context.slice(context.indexOf("<assistant>") + 1);
    const place = reply.length;
    if (!shape[place]?.test(word)) return -1e9;
    if (place === 2) return reply[0]!.slice("plan".length) === word.slice("op".length) ? 2 : 0;
    if (place < 3) return 0;
    return syntax[place - 3]!.includes(word) ? (context.includes("error") ? 2.48 : 1.09) : 0;
  };
  return tabularEngine({ context: "message", prior });
}

/** Exact probability that the first call is right and well-formed, over the tasks. */
async function firstTry({ policy }: TrainedInMemory, seed: number): Promise<number> {
  const tasks = environment(seed).tasks("train");
  const pairs = tasks.flatMap((task) => {
    const [first, second] = syntaxOf(task);
    const plans = tasks.map((_, plan) => `plan${plan} <tool_call> ${task.reference}`);
    const calls = plans.flatMap((start) => first!.flatMap((a) => second!.map((b) => `${start} ${a} ${b}`)));
    const prompt = policy.codec.open(task.prompt);
    return calls.map((call) => ({ prompt, target: policy.codec.encode(call) }));
  });
  const rows = pairRows(pairs);
  const { logp } = await policy.score(rows);
  let sum = 0;
  for (let r = 0; r < pairs.length; r++) {
    const own = logp.subarray(rows.targetOffset[r]!, rows.targetOffset[r + 1]!);
    sum += Math.exp(own.reduce((a, b) => a + b, 0));
  }
  return sum / tasks.length;
}

const arm = (recipe: TrainingArm["recipe"]) =>
  trainingArm({
    recipe,
    environment,
    engine,
    iterations: 150,
    settings: { tasks: 4, groupSize: 8, minibatches: 1, schedule: "constant", warmUp: 0 },
    grid: [0.03, 0.1, 0.3, 1, 3].map((learningRate) => ({ learningRate })),
    metric: firstTry,
    more: (done) => ({
      "success, retries allowed": meanSuccess(done),
      "tokens, thousands": (done.counters["tokens.sampled"] ?? 0) / 1000,
    }),
  });

export default defineCheck({
  id: "cleaner",
  level: "table",
  claim:
    "Cleaned of failed calls, trajectories teach to make the right call at once, where GRPO learns to be right in the end.",
  metric: "probability that the first call is right and well-formed, after 150 updates, exact",
  direction: "higher",
  smallestEffect: 0.05,
  range: [0, 1],
  baseline: arm(grpo),
  method: arm(cleaner),
  tuningSeeds: 2,
  unequalCost:
    "replaying a trajectory with its corrected call counts as an episode, though nothing is sampled in it",
});
