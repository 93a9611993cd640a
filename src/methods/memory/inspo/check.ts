import { randomStream } from "../../../core/random.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import type { Reading } from "../../../engine/tabular/reading.ts";
import { codeOf, codewords } from "../../../env/codewords.ts";
import type { CoEvolutionOptions } from "../../../memory/instructions/coEvolution.ts";
import { lineEditor } from "../../../memory/instructions/proposers.ts";
import { method } from "../../../method/method.ts";
import { type Arm, defineCheck } from "../../../train/check.ts";
import { averageOf, plainAscent, trainingArm } from "../../../train/trainingArm.ts";
import { instructedBy } from "./method.ts";

const length = 4;
const words = ["w0", "w1", "w2", "w3", "w4", "w5"];
const iterations = 80;

/** Four questions with the same code of four words; only the whole code has a reward. */
const world = (seed: number) =>
  codewords({ questions: 4, same: true, length, vocabulary: words.length, pay: "whole", seed });

/** All possible instruction lines: a word at a position. */
const stock = words.flatMap((word) => Array.from({ length }, (_, place) => `${word} at ${place + 1} .`));

/** Each line raises its word at its position by 2 nats; learnt weights are shared by all instructions. */
const reading: Reading = {
  isRead: (message) => message.includes(" at "),
  shift: (told, reply, word) =>
    2 *
    told.flatMap((text) => text.split("\n")).filter((line) => line === `${word} at ${reply.length + 1} .`)
      .length,
};

/** Twelve instructions: one names the first three words correctly, the others random words at random positions. */
function population(seed: number): readonly string[] {
  const [task] = world(seed).tasks("train");
  const right = codeOf(task!)
    .slice(0, 3)
    .map((word, place) => `${word} at ${place + 1} .`);
  const luck = randomStream(seed).split("population");
  const others = Array.from({ length: 11 }, () => stock[luck.below(stock.length)]!);
  return [...others, right.join("\n")];
}

const arm = (
  what: string,
  first: (all: readonly string[], seed: number) => readonly string[],
  options: Partial<CoEvolutionOptions>,
  extra = 0,
): Arm => {
  const made = (seed: number) =>
    trainingArm({
      recipe: method({
        id: "inspo",
        family: "memory",
        summary: what,
        says: [...stock, "\n"],
        slots: (settings) =>
          instructedBy(settings, {
            first: first(population(seed), seed),
            propose: lineEditor(stock, length),
            ...options,
          }),
      }),
      settings: { ...plainAscent, tasks: 4, groupSize: 8 },
      grid,
      environment: world,
      engine: () => tabularEngine({ context: "message", reading, prior }),
      iterations: iterations + extra,
      metric: ({ curve }) => averageOf(curve, "success"),
    });
  return { what, grid, measure: (choice, seed) => made(seed).measure(choice, seed) };
};

/** Only the code's words are allowed. */
const prior = (_context: readonly string[], word: string): number => (words.includes(word) ? 0 : -1e9);
const grid = [30, 100, 300].map((learningRate) => ({ learningRate }));

const still = { every: Number.POSITIVE_INFINITY } as const;
const evenly = { temperature: Number.POSITIVE_INFINITY } as const;
/** Extra iterations equal in cost to verifying candidates: 32 episodes every 20 iterations. */
const asMuch = iterations / 20;

export default defineCheck({
  id: "inspo",
  level: "shared",
  simpler: ["evenly"],
  claim:
    "Instructions that are drawn by what they earn and evolve with the policy raise reward over practice with one instruction fixed beforehand.",
  metric: "mean success over practice",
  direction: "higher",
  smallestEffect: 0.05,
  range: [0, 1],
  tuningSeeds: 2,
  notes:
    "Most of the gain is that no single bad instruction is practised under. In a first run with steps of 10 to 100 both arms did best with 100, at the grid's edge, and the method gained 0.247 [0.055, 0.439]; drawing evenly (0.877) and drawing by weight without evolution (0.878) came to the same as the method (0.871), and the one best instruction, which nobody knows beforehand, to more (0.974). On a table all that is learnt is shared by all instructions, so that a few lucky groups under any of them suffice. Tried before, on other seeds: codes of five words and steps of 1 to 10, where neither arm found anything to learn from within 100 iterations.",
  baseline: arm(
    "GRPO under one instruction of the population, fixed blindly",
    (all, seed) => [all[randomStream(seed).split("fixed").below(all.length)]!],
    still,
    asMuch,
  ),
  method: arm("instructions drawn by weight, which evolve", (all) => all, {}),
  others: {
    evenly: arm("instructions drawn evenly, none new", (all) => all, { ...still, draw: evenly }, asMuch),
  },
});
