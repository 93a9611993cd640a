import { replyProbabilities } from "../../../diagnose/replyProbabilities.ts";
import { type Reading, tabularEngine } from "../../../engine/tabular/engine.ts";
import type { Recipe } from "../../../method/method.ts";
import { distillation } from "../../../objective/distillation.ts";
import { defineCheck } from "../../../train/check.ts";
import { plainAscent, trainingArm } from "../../../train/trainingArm.ts";
import { grpo } from "../../baseline/grpo/method.ts";
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
    iterations: 40,
    settings: { ...plainAscent, tasks: 4, groupSize: 8 },
    grid: rates.map((learningRate) => ({ learningRate })),
    more: async ({ policy }, seed) => ({
      ridge: (await replyProbabilities(policy, environment(seed).tasks("train")[0]!, ["ridge"]))[0]!,
    }),
  });

/** DistIL without the term from later steps, optionally with another divergence. */
const stepByStep = (divergence: "forward" | "reverse"): Recipe => ({
  ...distil,
  build: (settings) => {
    const built = distil.build(settings);
    const advantage = [disagreementToGo({ weight: 0 })];
    const objective = [distillation({ divergence, normaliser: { constant: 1 } })];
    return { ...built, slots: { ...built.slots, advantage, objective } };
  },
});

export default defineCheck({
  id: "distil",
  level: "table",
  simpler: ["forward", "reverse"],
  claim:
    "Imitating oneself with hindsight, whole gradient included, learns which road to take where the outcome alone is rarely seen.",
  metric: "mean success over training",
  direction: "higher",
  smallestEffect: 0.05,
  tuningSeeds: 3,
  notes:
    "GRPO is a lottery here: it learns from the first arrival, which most of its runs never see; with four steps instead of five most do, and it comes close (0.8). The teacher says nothing at the fork. Whoever follows it step by step, forwards or backwards, learns both roads as well as they can be learnt and takes them as often as before (`ridge`): a quarter, where it began. What the future term finds is disagreement that cannot be trained away, not reward: if the valley's way never changed, it would end as soon as both were known. Where a sibling's solution is told instead, it names the road, and a solved task teaches nothing else; so what was said of the attempt itself comes first.",
  baseline: arm("GRPO", grpo, [30, 100, 1000, 1e4]),
  method: arm("DistIL", distil, [3, 10, 30, 100]),
  others: {
    forward: arm("forward divergence, step by step", stepByStep("forward"), [3, 10, 30, 100]),
    reverse: arm("reverse divergence, step by step", stepByStep("reverse"), [3, 10, 30, 100]),
  },
});
