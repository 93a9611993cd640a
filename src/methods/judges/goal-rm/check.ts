import { mean } from "../../../common/statistics/statistics.ts";
import { type Random, randomStream } from "../../../core/random.ts";
import type { Task } from "../../../core/types.ts";
import { areaUnderCurve } from "../../../evaluator/agreement.ts";
import { type Arm, defineCheck } from "../../../train/check.ts";
import { applied, chains, valuesOf } from "../../../worlds/chains.ts";
import { fitGoalReward, goalState, sizesOf, type TokenPair } from "./fit.ts";
import { cosine } from "./goalContrast.ts";
import { rewardAt, statesOf } from "./recurrent.ts";

const base = 5;
const operations = ["plus1", "plus2", "plus3", "plus4"];
const [steps, half] = [8, 4];
const [pairs, fresh, units] = [300, 750, 16];
const fit = { units, steps: 250, batch: 32, temperature: 0.3 } as const;
const inputs = 1 + operations.length * base * base;

/** A token for the start, and one for each step: what is seen there, an operation and a value, with the answer. */
const tokensOf = ({ metadata }: Task, values: readonly number[]): readonly number[] => [
  0,
  ...values.map((value, k) => {
    const operation = operations.indexOf((metadata.operations as string[])[k]!);
    const before = values[k - 1] ?? Number(metadata.start);
    return 1 + (operation * base + before) * base + value;
  }),
];

/** Errs at one step of the first half, and goes on from there without another error. */
function erring(task: Task, random: Random): number[] {
  const right = valuesOf(task);
  const at = random.below(half);
  const values = right.slice(0, at);
  values.push((right[at]! + 1 + random.below(base - 1)) % base);
  for (const operation of (task.metadata.operations as string[]).slice(at + 1))
    values.push(applied(operation, values.at(-1)!, base));
  return values;
}

function pairsFrom(tasks: readonly Task[], count: number, random: Random): TokenPair[] {
  return Array.from({ length: count }, (_, i) => {
    const own = random.split("pair", i);
    const task = tasks[own.below(tasks.length)]!;
    return { better: tokensOf(task, valuesOf(task)), worse: tokensOf(task, erring(task, own)), given: 1 };
  });
}

/** Both replies end after the same number of tokens, from one step to all. */
const cut = (pair: TokenPair, random: Random): TokenPair => {
  const length = 2 + random.below(steps);
  return { ...pair, better: pair.better.slice(0, length), worse: pair.worse.slice(0, length) };
};

interface Variant {
  /** λ; 0 is the reward model without the contrast. */
  readonly contrast: number;
  readonly temperature?: number;
  /** What judges an unfinished reply: the reward of it, or its resemblance to the goal state. */
  readonly reads: "reward" | "goal";
  /** Trains on unfinished replies besides. */
  readonly cuts?: true;
}

const arm = (what: string, { contrast, temperature = 0.3, reads, cuts }: Variant): Arm => ({
  what,
  grid: [5e-3, 0.01, 0.02, 0.03, 0.05].map((learningRate) => ({ learningRate })),
  async measure({ learningRate }, seed) {
    const random = randomStream(seed);
    const world = chains({ operations, steps, base, seed });
    const known = pairsFrom(world.tasks("train"), pairs, random.split("train"));
    const data = cuts ? known.flatMap((pair, i) => [pair, cut(pair, random.split("cut", i))]) : known;
    const options = { ...fit, contrast, temperature, learningRate: Number(learningRate) };
    const theta = fitGoalReward(inputs, data, random.split("fit"), options);
    const sizes = sizesOf(inputs, fit);
    const goal = goalState(
      theta,
      sizes,
      known.map(({ better }) => better),
    );
    const replies = pairsFrom(world.tasks("test"), fresh, random.split("test")).flatMap(
      ({ better, worse }) => [
        { states: statesOf(theta, sizes, better), right: true },
        { states: statesOf(theta, sizes, worse), right: false },
      ],
    );
    const area = (after: number, by: Variant["reads"]): number =>
      areaUnderCurve(
        replies.map(({ states }) =>
          by === "goal" ? cosine(states[after]!, goal) : rewardAt(theta, sizes, states[after]!),
        ),
        replies.map(({ right }) => right),
      );
    return {
      value: area(half, reads),
      cost: {
        episodes: pairs,
        tokens: mean(known.map(({ better, worse }) => better.length + worse.length)) * pairs,
      },
      more: {
        "area by reward, half": area(half, "reward"),
        "area by goal, half": area(half, "goal"),
        "area by reward, whole": area(steps, "reward"),
        "area by goal, whole": area(steps, "goal"),
      },
    };
  },
});

export default defineCheck({
  id: "goal-rm",
  level: "shared",
  claim:
    "Half-way through a reply, the resemblance to a goal state of a reward model with contrast says better whether it is right than the reward of a model without.",
  metric: "area under the curve, right against wrong replies, after half of their steps",
  direction: "higher",
  smallestEffect: 0.03,
  range: [0, 1],
  simpler: ["baseline", "plain goal", "cuts"],
  baseline: arm("reward of a model of preferences alone", { contrast: 0, reads: "reward" }),
  method: arm("resemblance to the goal, with contrast", { contrast: 0.5, reads: "goal" }),
  others: {
    reward: arm("reward, with contrast", { contrast: 0.5, reads: "reward" }),
    warm: arm("resemblance to the goal, with contrast at T = 1", {
      contrast: 0.5,
      temperature: 1,
      reads: "goal",
    }),
    "plain goal": arm("resemblance to the goal, without contrast", { contrast: 0, reads: "goal" }),
    cuts: arm("reward, preferences of unfinished replies besides", {
      contrast: 0,
      reads: "reward",
      cuts: true,
    }),
  },
});
