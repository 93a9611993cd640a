import { returnsToGo } from "../../../advantage/returnsToGo.ts";
import { mean } from "../../../common/statistics/statistics.ts";
import { randomStream } from "../../../core/random.ts";
import { succeeded } from "../../../core/types.ts";
import { perTurn } from "../../../credit/perTurn.ts";
import { toTrajectory } from "../../../credit/toTrajectory.ts";
import { type Features, type Prior, tabularEngine } from "../../../engine/tabular/engine.ts";
import type { Recipe } from "../../../method/method.ts";
import { method, type SlotChoices } from "../../../method/method.ts";
import { defineCheck } from "../../../train/check.ts";
import { evaluate } from "../../../train/evaluate.ts";
import type { TrainedInMemory } from "../../../train/trainInMemory.ts";
import { plainAscent, trainingArm } from "../../../train/trainingArm.ts";
import { clarification } from "../../../worlds/clarification.ts";
import { grpo } from "../../baseline/grpo/method.ts";
import { entropyReduction } from "./entropyReduction.ts";
import { nous } from "./method.ts";

const turns = 10;
const slots = ["place", "date", "people", "budget", "colour", "style"];
const smallTalk = Array.from(slots, (_, n) => `n${n}`);

/** Six unknown slots of four values; one answer in five is not available yet, six questions are about no slot. */
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

/** Turns per dialogue with held-out users, plus one if a slot was left open. */
async function turnsAsked({ policy }: TrainedInMemory, seed: number): Promise<number> {
  const { trajectories } = await evaluate({
    environment: environment(seed),
    agent: policy,
    split: "test",
    mode: "sampled",
    tasks: Number.POSITIVE_INFINITY,
    random: randomStream(seed).split("asked"),
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
    grid: [2, 5, 10, 20, 50].map((learningRate) => ({ learningRate })),
    iterations: 30,
    metric: turnsAsked,
  });

/** A variant that plays sixteen whole dialogues with a user and compares equal turns. */
const wholeDialogues = (slots: SlotChoices): Recipe =>
  method({ id: "variant", family: "user-feedback", summary: "a variant of nous", slots });

export default defineCheck({
  id: "nous",
  level: "shared",
  simpler: ["by turn", "summed"],
  claim:
    "Paid turn by turn for the uncertainty that answers remove, an agent learns what to ask sooner than from the end alone.",
  metric: "turns until all is known, 11 where it never was, after practice, with users not practised with",
  direction: "lower",
  smallestEffect: 0.2,
  tuningSeeds: 3,
  notes:
    "What tells the arms apart is that an answer is paid at all. Tried before, with the same turns of sixteen whole dialogues compared (now the arm `by turn`) and turns averaged over practice: 8.4 turn by turn, 9.3 summed, 10.2 from the end alone; at the end of practice, as here, summed rewards have caught up. Groups of one state ask the same user from the same place, so that one iteration sees less than sixteen dialogues do. Whoever settles on a question about nothing asks it ten times: at high rates all are lotteries.",
  unequalCost:
    "a candidate question is one more question, a dialogue up to ten: both ask about as many, in other numbers of episodes",
  baseline: arm(grpo, "paid at the end, sixteen dialogues at a time"),
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
    summed: arm(
      wholeDialogues({ feedback: entropyReduction(), credit: toTrajectory() }),
      "every turn paid what all answers removed, sixteen dialogues",
    ),
  },
});
