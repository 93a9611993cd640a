import { rejectionSampled } from "../../../advantage/rejectionSampled.ts";
import type { Model } from "../../../core/model.ts";
import type { Slots } from "../../../core/slots.ts";
import { meanOver, replyProbabilities } from "../../../diagnose/replyProbabilities.ts";
import { outcome } from "../../../feedback/outcome.ts";
import { method, type Recipe } from "../../../method/method.ts";
import { type Arm, defineCheck } from "../../../train/check.ts";
import { plainAscent, trainingArm } from "../../../train/trainingArm.ts";
import { scattered } from "../../../worlds/arms/sequences.ts";
import { sequences } from "../../../worlds/sequences.ts";
import { sharpening } from "./method.ts";
import { selfLikelihood } from "./selfLikelihood.ts";

/** Answers of three words of eight; nobody asks what they pay. */
const environment = (seed: number) => sequences({ questions: 4, length: 3, vocabulary: 8, seed });
/** Draws for each question. */
const draws = 512;

interface Drawing {
  readonly groupSize: number;
  readonly grid: readonly number[];
  readonly slots?: Partial<Slots>;
  readonly by?: "imitation" | "regression";
}

function arm(what: string, recipe: Recipe, { groupSize, grid, slots = {}, by }: Drawing): Arm {
  const choices = grid.map((learningRate) => ({ learningRate }));
  const made: Recipe = {
    ...recipe,
    build: (settings, options) => {
      const built = recipe.build(settings, { ...options, ...(by && { by }) });
      return { ...built, slots: { ...built.slots, ...slots } };
    },
  };
  return {
    what,
    grid: choices,
    measure(choice, seed) {
      const { tasks, all } = { tasks: environment(seed).tasks("train"), all: environment(seed).all };
      const likeliest = new Map<string, { readonly place: number; readonly p: number }>();
      const atFirst = async (policy: Model): Promise<void> => {
        for (const task of tasks) {
          const chances = await replyProbabilities(policy, task, all);
          const p = Math.max(...chances);
          likeliest.set(task.id, { place: chances.indexOf(p), p });
        }
      };
      return trainingArm({
        what,
        recipe: made,
        environment,
        engine: () => scattered(seed, 1.1),
        iterations: draws / groupSize,
        settings: { ...plainAscent, tasks: tasks.length, groupSize },
        grid: choices,
        prepare: atFirst,
        metric: ({ policy }) =>
          meanOver(tasks, async (task) => {
            const { place } = likeliest.get(task.id)!;
            return (await replyProbabilities(policy, task, [all[place]!]))[0]!;
          }),
        more: async () => ({
          "at first": await meanOver(tasks, async ({ id }) => likeliest.get(id)!.p),
          coverage: await meanOver(tasks, async ({ id }) => 1 / likeliest.get(id)!.p),
        }),
      }).measure(choice, seed);
    },
  };
}

const rates = [10, 30, 100, 300];
/** All that was drawn, and one in N whichever it is: what is left without the self-reward. */
const everything: Partial<Slots> = { advantage: [rejectionSampled({ keep: { best: 64 } })] };
const whichever: Partial<Slots> = { feedback: [outcome({ rewards: [] })] };

const searching = method({
  id: "searching",
  family: "self-play",
  summary: "GRPO on the self-reward",
  frozen: { reference: {} },
  slots: { feedback: selfLikelihood() },
});

export default defineCheck({
  id: "sharpening",
  level: "shared",
  simpler: ["baseline", "whichever"],
  claim:
    "Imitating the likeliest of 64 own samples moves a policy's probability to the answer that it found likeliest at first, where imitating all of as many samples does not.",
  metric: "probability of the answer that was likeliest at first, exact, after 512 draws for each question",
  direction: "higher",
  smallestEffect: 0.05,
  range: [0, 1],
  notes:
    "The baseline is the method with N = 1, which by the paper changes nothing in expectation: it cannot win. The rival that could is the policy gradient on the same self-reward, an arm beside it.",
  baseline: arm("every draw is imitated", sharpening, { groupSize: 64, grid: rates, slots: everything }),
  method: arm("the likeliest of 64 is imitated", sharpening, { groupSize: 64, grid: rates }),
  others: {
    whichever: arm("one of 64 is imitated, whichever", sharpening, {
      groupSize: 64,
      grid: rates,
      slots: whichever,
    }),
    four: arm("the likeliest of 4 is imitated", sharpening, { groupSize: 4, grid: rates.map((r) => r / 10) }),
    regression: arm("regression on pairs, β = 0.1", sharpening, {
      groupSize: 64,
      grid: [0.1, 0.3, 1, 3],
      by: "regression",
    }),
    search: arm("a policy gradient on the self-reward of the policy's own samples", searching, {
      groupSize: 16,
      grid: [1, 3, 10, 30],
    }),
  },
});
