import { mean } from "../../../common/statistics/statistics.ts";
import type { Model } from "../../../core/model.ts";
import { randomStream } from "../../../core/random.ts";
import { paid } from "../../../core/types.ts";
import { type Features, type Prior, tabularEngine } from "../../../engine/tabular/engine.ts";
import { codewords } from "../../../env/codewords.ts";
import { method, type Recipe } from "../../../method/method.ts";
import { modelActor } from "../../../rollout/actor.ts";
import { playEpisode } from "../../../rollout/episode.ts";
import { defineCheck } from "../../../train/check.ts";
import { plainAscent, trainingArm } from "../../../train/trainingArm.ts";
import { gapReward } from "./gapReward.ts";
import { draftMessage, draftWord } from "./improving.ts";
import { improvingOn, pitSelfImprove } from "./method.ts";

const rounds = 3;
const environment = (seed: number) =>
  codewords({ seed, questions: 4, length: 8, vocabulary: 2, pay: "share" });

/** Question, place and, where a draft is read, the word of the draft at this place. */
function placeOf(context: readonly string[]) {
  const begun = context.lastIndexOf("<assistant>");
  const place = context.length - 1 - begun;
  const draft = context.indexOf(draftWord);
  const question = context.find((word) => /^q\d+$/.test(word)) ?? "";
  return { place, question, copied: draft < 0 ? "-" : (context[draft + 1 + place] ?? "-") };
}
const features: Features = (context) => {
  const { question, place, copied } = placeOf(context);
  return [`${question} ${place} ${copied}`];
};
/** Says anything to a bare question, and copies a draft at odds of e². */
const prior: Prior = (context, word) =>
  /^w\d$/.test(word) ? (placeOf(context).copied === word ? 2 : 0) : -1e9;

/** Mean share of right words of the first policy's answer, and after each round: 40 chains for each question. */
async function chains(policy: Model, seed: number, reads: boolean): Promise<number[]> {
  const env = environment(seed);
  const acting = modelActor({ ...policy, sample: (requests) => policy.sample(requests) });
  const quality = Array.from({ length: rounds + 1 }, (): number[] => []);
  for (const task of env.tasks("train")) {
    for (let c = 0; c < 40; c++) {
      const random = randomStream(seed).split("chain", task.id, c);
      let answer = Array.from({ length: 8 }, (_, k) => `w${random.split("first", k).below(2)}`).join(" ");
      quality[0]!.push((await env.verify!(task, saying(answer))).outcome!);
      for (let r = 1; r <= rounds; r++) {
        const [t] = await playEpisode({
          ...{ environment: env, task, id: `${c}`, actor: () => acting, random: random.split("round", r) },
          ...(reads && { advice: [draftMessage(answer)] }),
        });
        quality[r]!.push(paid(t!));
        answer = t!.turns[0]!.action.content;
      }
    }
  }
  return quality.map(mean);
}
const saying = (content: string) => ({
  ...{ id: "", task: "", episode: "", role: "agent", origin: "sampled" as const },
  turns: [
    {
      ...{ role: "agent", model: "", version: "", prompt: [], spans: {}, rewards: {}, ms: 0 },
      action: { role: "assistant" as const, content },
      stop: "eos" as const,
    },
  ],
  end: { kind: "done" as const, reason: "" },
});

const arm = (what: string, recipe: Recipe, reads: boolean) =>
  trainingArm({
    what,
    recipe,
    environment,
    engine: () => tabularEngine({ prior, features }),
    iterations: 1000,
    episodes: 700,
    settings: { ...plainAscent, tasks: 4, groupSize: 8 },
    grid: [3, 10, 30, 100, 300].map((learningRate) => ({ learningRate })),
    metric: async ({ policy }, seed) => (await chains(policy, seed, reads)).at(-1)!,
    more: async ({ policy }, seed) => {
      const quality = await chains(policy, seed, reads);
      return Object.fromEntries(quality.map((q, r) => [`round ${r}`, q]));
    },
  });

const variant = (id: string, reads: boolean, ties = true): Recipe =>
  method({
    id,
    family: "self-play",
    summary: id,
    says: [draftWord],
    frozen: { reference: {} },
    helpers: { gap: () => gapReward({ steps: 20, ties }) },
    slots: improvingOn(reads, 0.01),
  });

export default defineCheck({
  id: "pit-self-improve",
  level: "shared",
  simpler: ["baseline", "without ties"],
  claim:
    "At equal episodes, a policy that learns to improve a given answer writes better ones after three rounds than one that learns to answer.",
  metric: `share of right words after ${rounds} rounds from a random answer`,
  direction: "higher",
  smallestEffect: 0.03,
  range: [0, 1],
  notes:
    "With a linear reward model the part of the gap that belongs to the reference is the same for a whole group, and takes no part in its advantages: what is left of the method is that it reads an answer. A table has to learn each place once for each word that it may read there, and a bare question once. Answers do get better from round to round, which new samples do not. Tried on other seeds: six words in place of two (0.53, new samples 0.80), and longer training (0.94 and 0.95).",
  baseline: arm("answers the bare question; rounds are new samples", variant("resampling", false), false),
  method: arm("improves the answer of the round before", pitSelfImprove, true),
  others: {
    "without ties": arm("the reward model without ties", variant("without-ties", true, false), true),
  },
});
