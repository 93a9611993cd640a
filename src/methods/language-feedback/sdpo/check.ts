import type { Advantage } from "../../../core/slots.ts";
import { type Reading, tabularEngine } from "../../../engine/tabular/engine.ts";
import { codewords } from "../../../env/codewords.ts";
import { method, type Recipe } from "../../../method/method.ts";
import { policyGradient } from "../../../objective/policyGradient.ts";
import { defineCheck } from "../../../train/check.ts";
import { plainAscent, trainingArm } from "../../../train/trainingArm.ts";
import { grpo } from "../../baseline/grpo/method.ts";
import { sdpo } from "./method.ts";

/** Nats added to a word that a sibling's solution has at this position, and subtracted from a word named as wrong there. */
const obedience = 2;

/** A model that can read: additional context shifts the logits that it has without it. */
const reading: Reading = {
  isRead: (message) => !/^q\d+$/.test(message),
  shift: (told, reply, word) =>
    told.reduce((sum, message) => {
      const named = message.includes(`${word} at ${reply.length + 1}`);
      if (message.startsWith("not ")) return named ? sum - obedience : sum;
      return message.split(" ")[reply.length] === word ? sum + obedience : sum;
    }, 0),
};

const arm = (what: string, recipe: Recipe, rates: readonly number[]) =>
  trainingArm({
    what,
    recipe,
    environment: (seed) => codewords({ seed, questions: 8, length: 4, vocabulary: 6, says: true }),
    engine: () =>
      tabularEngine({
        context: "message",
        reading,
        prior: (_, word) => (/^w\d$/.test(word) ? 0 : -1e9),
      }),
    iterations: 30,
    settings: { ...plainAscent, tasks: 8, groupSize: 8 },
    grid: rates.map((learningRate) => ({ learningRate })),
  });

/** Each word that was named as wrong is worth −1, each other word 1. */
const blamed: Advantage<null> = {
  name: "blamed",
  init: () => null,
  apply: ({ trajectories }) => ({
    advantages: new Map(
      trajectories.map((t) => {
        const { text = "", action } = t.turns.at(-1)!;
        const wrong: readonly string[] = text.match(/w\d+ at \d+/g) ?? [];
        const worth = action.content
          .split(/\s+/)
          .map((word, i) => (wrong.includes(`${word} at ${i + 1}`) ? -1 : 1));
        return [t.id, Float32Array.from(worth)];
      }),
    ),
    next: null,
    stats: {},
  }),
};

const perWord = method({
  id: "per-word",
  family: "language-feedback",
  summary: "policy gradient, each word paid by whether it was named as wrong",
  slots: { advantage: blamed, objective: policyGradient() },
});

/** SDPO that weights each sampled token only by the teacher's log-ratio. */
const sampled: Recipe = {
  ...sdpo,
  build: (settings) => {
    const built = sdpo.build(settings);
    return { ...built, slots: { ...built.slots, objective: [policyGradient()] } };
  },
};

export default defineCheck({
  id: "sdpo",
  level: "shared",
  simpler: ["baseline", "GRPO"],
  claim:
    "Re-reading one's own answers with the words about them solves codes sooner than paying each word by the same words.",
  metric: "mean success over training",
  direction: "higher",
  smallestEffect: 0.05,
  range: [0, 1],
  notes:
    "The first design's opponent, GRPO on the share of right words (0.43 against 0.86), was told less: the words name every wrong word, the score only counts them. The opponent now has the same words, read by a pattern, as the policy's reading of them is given too, and not learnt: 2 nats; half a nat made no difference at a larger step. Divergences are small numbers, so their steps are large; at steps ten times smaller the slow teacher holds the student back (0.1 to 0.6), and one that is the policy itself does not (0.86).",
  baseline: arm("each word paid by whether it was named as wrong", perWord, [100, 300, 1000, 3000, 1e4]),
  method: arm("SDPO on named wrong words and siblings", sdpo, [1e4, 3e4, 1e5, 3e5, 1e6]),
  others: {
    GRPO: arm("GRPO on the share of right words", grpo, [30, 60, 100, 150, 200]),
    sampled: arm("SDPO, sampled form", sampled, [3e3, 1e4, 3e4, 1e5, 3e5]),
  },
});
