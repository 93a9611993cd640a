import { returnsToGo } from "../../src/advantage/returnsToGo.ts";
import { toTrajectory } from "../../src/credit/toTrajectory.ts";
import { type Features, type Prior, tabularEngine } from "../../src/engine/tabular/engine.ts";
import { clarification } from "../../src/env/clarification.ts";
import { entropyReduction } from "../../src/feedback/entropyReduction.ts";
import { grpo } from "../../src/method/baseline/grpo.ts";
import type { Recipe } from "../../src/method/index.ts";
import { method } from "../../src/method/method.ts";
import { nous } from "../../src/method/user-feedback/nous.ts";
import { armOf, defineCheck, type Practised, plainAscent } from "../../src/train/index.ts";

const turns = 10;
const slots = ["place", "date", "people", "budget", "colour", "style"];
const smallTalk = Array.from(slots, (_, n) => `n${n}`);

/** Six slots of four values, of which nothing is said; one answer in five is not there yet, six questions are about nothing. */
const environment = (seed: number) =>
  clarification({
    seed,
    matters: slots.map(() => 1),
    values: 4,
    complete: 0,
    said: 0,
    sure: 0.8,
    smallTalk: smallTalk.length,
    ends: "known",
    turns,
  });

/** Of the form it sees which slots are open. */
const features: Features = (context) =>
  context.flatMap((word, i) =>
    slots.includes(word) && i < context.lastIndexOf("<end>")
      ? [`${word} ${context[i + 1] === "open" ? "open" : "known"}`]
      : [],
  );

/** It asks, at first for anything with the same probability. */
const prior: Prior = (context, word) => {
  const said = context.at(-1);
  if (said === "<assistant>") return word === "ask" ? 0 : -1e9;
  if (said === "ask") return slots.includes(word) || smallTalk.includes(word) ? 0 : -1e9;
  return word === "<end>" ? 0 : -1e9;
};

/** Turns per dialogue, one more where something was left open, mean over practice. */
const turnsAsked = (curve: Practised["curve"]): number =>
  curve.reduce((sum, m) => sum + m.turns! + m.truncated!, 0) / curve.length;

const arm = (recipe: Recipe, what: string) =>
  armOf({
    recipe,
    what,
    environment,
    engine: () => tabularEngine({ context: "message", features, prior }),
    settings: { ...plainAscent, tasks: 1, groupSize: 16 },
    grid: [1, 3, 10, 30, 100].map((learningRate) => ({ learningRate })),
    iterations: 40,
    metric: ({ curve }) => turnsAsked(curve),
    more: ({ curve }) => ({ "in the last five iterations": turnsAsked(curve.slice(-5)) }),
  });

export default defineCheck({
  id: "nous",
  claim:
    "Paid turn by turn for the uncertainty that answers remove, an agent learns what to ask sooner than from the end alone.",
  metric: "turns until all is known, 11 where it never was, mean over practice",
  direction: "lower",
  smallestEffect: 0.2,
  tuningSeeds: 2,
  baseline: arm(grpo, "paid at the end"),
  method: arm(nous, "each turn paid what its answer removed"),
  others: {
    summed: arm(
      method({
        id: "variant",
        family: "user-feedback",
        summary: "a variant of nous",
        slots: { feedback: entropyReduction(), credit: toTrajectory() },
      }),
      "every turn paid what all answers removed",
    ),
    "to go": arm(
      method({
        id: "variant",
        family: "user-feedback",
        summary: "a variant of nous",
        slots: { feedback: entropyReduction(), advantage: returnsToGo({ normalise: true }) },
      }),
      "each turn paid what the answers from there on removed",
    ),
  },
});
