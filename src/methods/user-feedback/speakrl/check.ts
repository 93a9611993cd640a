import { mean } from "../../../common/statistics/statistics.ts";
import type { Model } from "../../../core/model.ts";
import { randomStream } from "../../../core/random.ts";
import { succeeded } from "../../../core/types.ts";
import { type Features, type Prior, tabularEngine } from "../../../engine/tabular/engine.ts";
import { outcome } from "../../../feedback/outcome.ts";
import type { Recipe } from "../../../method/method.ts";
import { method } from "../../../method/method.ts";
import { defineCheck } from "../../../train/check.ts";
import { evaluate } from "../../../train/evaluate.ts";
import { plainAscent, trainingArm } from "../../../train/trainingArm.ts";
import { clarification } from "../../../worlds/clarification.ts";
import { intentOf } from "../../../worlds/intent.ts";
import { clarifyingQuestions, type MoveWorth, moveWorths } from "./clarifyingQuestions.ts";
import { speakrl } from "./method.ts";

const environment = (seed: number) => clarification({ seed });
const slots = ["place", "date", "people", "budget"];

/** It sees which slots of the form are known, irrelevant or open, and whether it has already asked. */
const features: Features = (context) => {
  const asks = context.at(-1) === "ask" ? "ask" : "begin";
  return context.flatMap((word, i) =>
    slots.includes(word) ? [`${asks} ${word} ${(context[i + 1] ?? "").replace(/^v\d+$/, "known")}`] : [],
  );
};

/** Initially each of the five actions is equally likely. */
const prior: Prior = (context, word) => {
  const said = context.at(-1);
  if (said === "<assistant>") return word === "ask" ? Math.log(slots.length) : word === "submit" ? 0 : -1e9;
  return said === "ask" ? (slots.includes(word) ? 0 : -1e9) : word === "<end>" ? 0 : -1e9;
};

/** Evaluates the trained policy on held-out users, two conversations each. */
async function helped(policy: Model, seed: number) {
  const env = environment(seed);
  const intents = new Map(env.tasks("test").map((task) => [task.id, intentOf(task)]));
  const rounds = await Promise.all(
    Array.from({ length: 2 }, (_, round) =>
      evaluate({
        environment: env,
        agent: policy,
        split: "test",
        mode: "sampled",
        tasks: Number.POSITIVE_INFINITY,
        random: randomStream(seed).split("helped", round),
        limit: (work) => work(),
      }),
    ),
  );
  const talks = rounds
    .flatMap(({ trajectories }) => trajectories)
    .map((t) => {
      const intent = intents.get(t.task)!;
      const vain = moveWorths(t.turns, intent).filter((worth) => worth === "useless").length;
      return { t, intent, vain };
    });
  return {
    clean: mean(talks.map(({ t, vain }) => Number(succeeded(t) && vain === 0))),
    completion: mean(talks.map(({ t }) => Number(succeeded(t)))),
    "in vain": mean(talks.map(({ vain }) => vain)),
    "turns beyond the missing": mean(talks.map(({ t, intent }) => t.turns.length - intent.missing.length)),
  };
}

const arm = (recipe: Recipe, what: string) =>
  trainingArm({
    recipe,
    what,
    environment,
    engine: () => tabularEngine({ context: "message", features, prior }),
    settings: { ...plainAscent, tasks: 16, groupSize: 4 },
    grid: [3, 10, 30, 100, 300].map((learningRate) => ({ learningRate })),
    iterations: 40,
    metric: async ({ policy }, seed) => (await helped(policy, seed)).clean,
    more: async ({ policy }, seed) => helped(policy, seed),
  });

const paidFor = (pay?: Partial<Readonly<Record<MoveWorth, number>>>): Recipe =>
  method({
    id: "variant",
    family: "user-feedback",
    summary: "a variant of speakrl",
    slots: {
      feedback: [outcome({ rewards: ["outcome"] }), ...(pay ? [clarifyingQuestions({ pay })] : [])],
    },
  });

const free: Readonly<Record<MoveWorth, number>> = {
  useful: 0.1,
  useless: 0,
  premature: 0,
  due: 0,
  unreadable: 0,
};

export default defineCheck({
  id: "speakrl",
  level: "shared",
  simpler: ["any", "useful"],
  claim:
    "Paid for useful questions and charged for the others, an agent helps more users without asking in vain than one paid for the task alone.",
  metric:
    "share of conversations that end in the right call without a question in vain, with users not practised with",
  direction: "higher",
  smallestEffect: 0.05,
  range: [0, 1],
  tuningSeeds: 3,
  notes:
    "Without a cost of turns the task alone is best served by asking for everything, so that completion by itself speaks for whoever asks most: tried first, on other seeds, with the choice made by fewest questions in vain, the agent asked next to none (0.001 against 1.12 in a conversation) and completed 0.70 against 0.95. So both count here. At high rates who is paid for the task alone stops at one of several habits by chance, which its spread shows.",
  baseline: arm(paidFor(), "paid for the task alone"),
  method: arm(speakrl, "questions paid and charged"),
  others: {
    any: arm(paidFor({ ...free, useless: 0.1 }), "any question paid"),
    useful: arm(paidFor(free), "useful questions paid, none charged"),
  },
});
