import { returnsToGo } from "../../../advantage/returnsToGo.ts";
import { mean } from "../../../common/statistics/statistics.ts";
import type { Model } from "../../../core/model.ts";
import { randomStream } from "../../../core/random.ts";
import { succeeded } from "../../../core/types.ts";
import { perTurn } from "../../../credit/perTurn.ts";
import { toTrajectory } from "../../../credit/toTrajectory.ts";
import { type Features, type Prior, tabularEngine } from "../../../engine/tabular/engine.ts";
import type { Environment } from "../../../env/environment.ts";
import type { Recipe } from "../../../method/method.ts";
import { method, type SlotChoices } from "../../../method/method.ts";
import { defineCheck } from "../../../train/check.ts";
import { evaluate } from "../../../train/evaluate.ts";
import { plainAscent, trainingArm } from "../../../train/trainingArm.ts";
import { clarification } from "../../../worlds/clarification.ts";
import { entropyReduction } from "./entropyReduction.ts";
import { nous } from "./method.ts";

const turns = 7;
const slots = ["place", "date", "people", "budget"];
const smallTalk = Array.from(slots, (_, n) => `n${n}`);

/** Four unknown slots of four values; one answer in five is not available yet, four questions are about no slot. */
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

/** The policy sees which slots of the form are open. */
const features: Features = (context) =>
  context.flatMap((word, i) =>
    slots.includes(word) && i < context.lastIndexOf("<end>")
      ? [`${word} ${context[i + 1] === "open" ? "open" : "known"}`]
      : [],
  );

/** Initially it asks for anything with equal probability. */
const prior: Prior = (context, word) => {
  const said = context.at(-1);
  if (said === "<assistant>") return word === "ask" ? 0 : -1e9;
  if (said === "ask") return slots.includes(word) || smallTalk.includes(word) ? 0 : -1e9;
  return word === "<end>" ? 0 : -1e9;
};

/** Turns per dialogue with sixteen held-out users, plus one if a slot was left open. */
async function turnsAsked(policy: Model, environment: Environment): Promise<number> {
  const { trajectories } = await evaluate({
    environment,
    agent: policy,
    split: "test",
    mode: "sampled",
    tasks: 16,
    random: randomStream("asked"),
    limit: (work) => work(),
  });
  return mean(trajectories.map((t) => t.turns.length + (succeeded(t) ? 0 : 1)));
}

const arm = (recipe: Recipe, what: string) =>
  trainingArm({
    recipe,
    what,
    environment,
    engine: () => tabularEngine({ context: "message", features, prior }),
    settings: { ...plainAscent, tasks: 1, groupSize: 16 },
    grid: [2, 5, 10, 20].map((learningRate) => ({ learningRate })),
    iterations: 8,
    follow: turnsAsked,
  });

/** A variant that plays sixteen whole dialogues with a user and compares equal turns. */
const wholeDialogues = (slots: SlotChoices): Recipe =>
  method({ id: "variant", family: "user-feedback", summary: "a variant of nous", slots });

export default defineCheck({
  id: "nous",
  level: "shared",
  simpler: ["baseline", "by turn"],
  claim:
    "Paid for the uncertainty that an answer removes, an agent learns what to ask sooner where candidate questions of one state are compared than where each dialogue is paid the sum.",
  metric:
    "turns until all is known, 8 where it never was, with users not practised with, mean over 8 iterations",
  direction: "lower",
  smallestEffect: 0.2,
  range: [1, 8],
  notes:
    "Earlier designs had six slots and the outcome at the end alone as the opponent (9.5 turns at the end of practice, against 7.9); paying for answers in any of three ways did as well: one state's candidates 7.9, equal turns of sixteen dialogues 7.9, their sums 7.8. What told those arms apart was that an answer is paid at all. With eight iterations and step sizes from 10 on, where the method did best at the smallest, sums came to 6.5 turns, the method to 7.1, equal turns of sixteen dialogues to 6.3. Groups of one state ask the same user from the same place, so that one iteration sees less than sixteen dialogues do. Whoever settles on a question about nothing asks it to the end: at high rates all are lotteries.",
  unequalCost:
    "a candidate question is one more question, a dialogue up to seven: both ask about as many, in other numbers of episodes",
  baseline: arm(
    wholeDialogues({ feedback: entropyReduction(), credit: toTrajectory() }),
    "every turn paid what all answers removed, sixteen dialogues",
  ),
  method: arm(nous, "paid what the answer removed, sixteen candidates in each state of a dialogue"),
  others: {
    "by turn": arm(
      wholeDialogues({
        feedback: entropyReduction(),
        credit: perTurn(),
        advantage: returnsToGo({ discount: 0, normalise: true }),
      }),
      "paid what the answer removed, compared with the same turn of sixteen dialogues",
    ),
  },
});
