import { groupNormalised } from "../../../advantage/groupNormalised.ts";
import { toTrajectory } from "../../../credit/toTrajectory.ts";
import { replyProbabilities } from "../../../diagnose/replyProbabilities.ts";
import { type Reading, tabularEngine } from "../../../engine/tabular/engine.ts";
import { outcome } from "../../../feedback/outcome.ts";
import type { Recipe } from "../../../method/method.ts";
import { distillation } from "../../../objective/distillation.ts";
import { policyGradient } from "../../../objective/policyGradient.ts";
import { defineCheck } from "../../../train/check.ts";
import { plainAscent, trainingArm } from "../../../train/trainingArm.ts";
import { crossroads, roads } from "./crossroads.ts";
import { disagreementToGo } from "./disagreementToGo.ts";
import { distil } from "./method.ts";

const environment = (seed: number) => crossroads({ seed, steps: 5 });

/** The reply's words so far. */
const replied = (context: readonly string[]): readonly string[] =>
  context.slice(context.lastIndexOf("<assistant>") + 1);

/** With the path in its context the initial policy takes each step with probability 0.99, otherwise uniformly; roads get no hint. */
const reading: Reading = {
  isRead: (message) => message.startsWith("way "),
  shift: (told, reply, word) =>
    reply.length > 0 && told.some((message) => message.split(" ")[reply.length] === word) ? Math.log(297) : 0,
};

/** A row for each step of each road. Initially the valley has a probability of nearly 0.75. */
const engine = () =>
  tabularEngine({
    context: "message",
    reading,
    features: (context) => {
      const reply = replied(context);
      return [`${reply[0] ?? "fork"} ${reply.length}`];
    },
    prior: (context, word) => {
      const atFork = replied(context).length === 0;
      if (atFork ? !roads.some((road) => road === word) : !/^d\d$/.test(word)) return -1e9;
      return word === "valley" ? 1 : 0;
    },
  });

const arm = (what: string, recipe: Recipe, rates: readonly number[]) =>
  trainingArm({
    what,
    recipe,
    environment,
    engine,
    iterations: 20,
    settings: { ...plainAscent, tasks: 4, groupSize: 8 },
    grid: rates.map((learningRate) => ({ learningRate })),
    more: async ({ policy }, seed) => ({
      ridge: (await replyProbabilities(policy, environment(seed).tasks("train")[0]!, ["ridge"]))[0]!,
    }),
  });

/** DistIL without the term from later steps: nothing that is said reaches the fork. */
const stepByStep: Recipe = {
  ...distil,
  build: (settings) => {
    const built = distil.build(settings);
    const advantage = [disagreementToGo({ weight: 0 })];
    const objective = [distillation({ divergence: "forward", normaliser: { constant: 1 } })];
    return { ...built, slots: { ...built.slots, advantage, objective } };
  },
};

/** The same imitation step by step, and GRPO on the outcome in place of the term from later steps. */
const withOutcome: Recipe = {
  ...distil,
  build: (settings) => {
    const built = distil.build(settings);
    return {
      ...built,
      slots: {
        ...built.slots,
        feedback: [outcome()],
        credit: [toTrajectory()],
        advantage: [disagreementToGo({ weight: 0 }), groupNormalised()],
        objective: [
          distillation({ divergence: "forward", normaliser: { constant: 1 } }),
          policyGradient({ normaliser: { constant: 1 } }),
        ],
      },
    };
  },
};

export default defineCheck({
  id: "distil",
  level: "table",
  simpler: ["baseline", "forward"],
  claim:
    "Where hindsight says nothing of the choice of road, the whole gradient of the imitation chooses it sooner than the outcome does beside the same imitation.",
  metric: "mean success over training",
  direction: "higher",
  smallestEffect: 0.05,
  range: [0, 1],
  notes:
    "The first design's opponent was GRPO alone, which hardly ever meets a success here (0.03 against 0.95); with four steps instead of five it came to 0.8. The teacher says nothing at the fork: whoever follows it step by step, forwards or backwards, learns both roads and takes them as often as before. What the future term finds is disagreement that cannot be trained away, not reward: if the valley's way never changed, it would end as soon as both were known, and the outcome beside the imitation would not. Where a sibling's solution is told instead, it names the road, and a solved task teaches nothing else; so what was said of the attempt itself comes first.",
  baseline: arm("the same imitation step by step, and GRPO on the outcome", withOutcome, [3, 10, 30, 100]),
  method: arm("DistIL", distil, [3, 10, 30, 100]),
  others: {
    forward: arm("forward divergence, step by step", stepByStep, [10, 30, 100, 300]),
  },
});
