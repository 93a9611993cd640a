import { leastSquares, mean } from "../../../common/statistics/statistics.ts";
import type { Model } from "../../../core/model.ts";
import { randomStream } from "../../../core/random.ts";
import { succeeded, type Trajectory } from "../../../core/types.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { type Arm, type Choice, defineCheck } from "../../../train/check.ts";
import { evaluate } from "../../../train/evaluate.ts";
import { plainAscent, trainingArm } from "../../../train/trainingArm.ts";
import { glimpsed, glimpses, hasty, isVerdict } from "./glimpses.ts";
import { keepThinking } from "./keepThinking.ts";
import { j1Stts } from "./method.ts";

const [iterations, stage, most] = [60, 15, 4];

/** In training no verdict is refused, or one, or two. */
const refusing = (seed: number) =>
  keepThinking(glimpses({ seed }), {
    times: (task) => Number(task.metadata.pair) % 3,
    isVerdict,
  });

/** Judgements of the test pairs after n refusals, with time to think: right ones, right ones in both orders, actions. */
async function judgements(policy: Model, seed: number, refusals: number) {
  const { trajectories } = await evaluate({
    environment: keepThinking(glimpses({ seed, pairs: 100, turns: 36 }), {
      times: () => refusals,
      isVerdict,
    }),
    agent: policy,
    split: "test",
    mode: "sampled",
    tasks: Number.POSITIVE_INFINITY,
    random: randomStream(seed).split("refusals", refusals),
    limit: (work) => work(),
  });
  const pairs = [...Map.groupBy(trajectories, pairOf).values()];
  return {
    right: mean(trajectories.map((t) => Number(succeeded(t)))),
    both: mean(pairs.map((pair) => Number(pair.every(succeeded)))),
    thought: mean(trajectories.map(({ turns }) => turns.length)),
  };
}
const pairOf = ({ task }: Trajectory): string => task.replace("/swapped", "");

const known = new WeakMap<Model, ReturnType<typeof measured>>();
/** Measured once for each policy. */
function scaling(policy: Model, seed: number): ReturnType<typeof measured> {
  const found = known.get(policy) ?? measured(policy, seed);
  known.set(policy, found);
  return found;
}

/** Accuracy after 0 … 4 refusals, and its slope over log2 of the actions. */
async function measured(policy: Model, seed: number) {
  const seen = await Promise.all(
    Array.from({ length: most + 1 }, (_, refusals) => judgements(policy, seed, refusals)),
  );
  const { slope } = leastSquares(
    seen.map(({ thought }) => Math.log2(thought)),
    seen.map(({ right }) => right),
  );
  return { seen, slope };
}

const arm = (what: string, choice: Choice): Arm =>
  trainingArm({
    what,
    recipe: j1Stts,
    environment: refusing,
    engine: () => tabularEngine({ prior: hasty, features: glimpsed }),
    iterations,
    settings: { ...plainAscent, tasks: 12, groupSize: 8 },
    grid: [0.3, 1, 3, 10, 30].map((learningRate) => ({ learningRate, ...choice })),
    metric: async ({ policy }, seed) => (await scaling(policy, seed)).seen.at(-1)!.right,
    more: async ({ policy }, seed) => {
      const { seen, slope } = await scaling(policy, seed);
      return {
        "right, by each doubling of what was thought": slope,
        ...Object.fromEntries(seen.map(({ right }, n) => [`right after ${n} refusals`, right])),
        "right in both orders after 4 refusals": seen.at(-1)!.both,
        "actions without a refusal": seen[0]!.thought,
        "actions with 4 refusals": seen.at(-1)!.thought,
      };
    },
  });

export default defineCheck({
  id: "j1-stts",
  level: "table",
  claim:
    "A judge whose verdicts are refused four times is right more often after imitation and rewards for right verdicts than after as much imitation alone.",
  metric: "share of right verdicts after four refusals, on other pairs",
  direction: "higher",
  smallestEffect: 0.03,
  range: [0, 1],
  simpler: ["baseline", "paid"],
  unequalCost: "every arm trains on as many judgements; a judge that thinks longer writes more",
  notes:
    "The imitating arm chose the largest step size of its grid on five tuning seeds that could not tell it from smaller ones (0.634 to 0.672), and is worse with it on the reported seeds (0.584): with the step size 3 it has 0.672 there, and the gain is +0.071 [+0.031, +0.111]. Without a refusal it is right in 0.558, and each doubling of what is thought adds 0.008; after rewards 0.686 and 0.023. Rewards from the beginning do as well as after imitation.",
  baseline: arm("imitates right judgements", { stage: iterations }),
  method: arm("imitates them, then is paid for right verdicts", { stage }),
  others: { paid: arm("is paid for right verdicts from the beginning", { stage: 0 }) },
});
