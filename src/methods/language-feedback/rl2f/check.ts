import { mean } from "../../../common/statistics/statistics.ts";
import type { Model } from "../../../core/model.ts";
import { randomStream } from "../../../core/random.ts";
import { succeeded } from "../../../core/types.ts";
import { type Prior, tabularEngine } from "../../../engine/tabular/engine.ts";
import type { Recipe } from "../../../method/method.ts";
import { type Arm, defineCheck } from "../../../train/check.ts";
import { evaluate } from "../../../train/evaluate.ts";
import { trainInMemory } from "../../../train/trainInMemory.ts";
import { plainAscent } from "../../../train/trainingArm.ts";
import { type Teacher, tryAgain } from "../../../worlds/tryAgain.ts";
import { grpo } from "../../baseline/grpo/method.ts";
import { bounds, boundsVocabulary, hiddenNumber } from "./hiddenNumber.ts";
import { rl2f } from "./method.ts";
import { mistaught } from "./mistaught.ts";

const numbers = 8;
const answers = 4;

/** Initially replies are uniform over numbers; teacher texts are uniform over words. */
const prior: Prior = (context, word) => (!context.includes("<assistant>") || /^\d$/.test(word) ? 0 : -1e9);

const dialogues = (seed: number, turns: number, words: (of: ReturnType<typeof hiddenNumber>) => Teacher) => {
  const single = hiddenNumber({ numbers, seed });
  return tryAgain(single, { turns, words: words(single), vocabulary: boundsVocabulary });
};
const taught = (seed: number, turns = answers) => dialogues(seed, turns, () => bounds);
/** The feedback concerns another task. */
const shuffled = (seed: number) => dialogues(seed, answers, (of) => mistaught(bounds, of.tasks("test")));

/** Share of new tasks that are solved by each turn. */
async function answered(policy: Model, environment: ReturnType<typeof taught>, seed: number) {
  const { trajectories } = await evaluate({
    environment,
    agent: policy,
    split: "test",
    mode: "sampled",
    tasks: Number.POSITIVE_INFINITY,
    random: randomStream(seed).split("answered"),
    limit: (work) => work(),
  });
  return Array.from({ length: answers }, (_, k) =>
    mean(trajectories.map((t) => Number(succeeded(t) && t.turns.length <= k + 1))),
  );
}

const arm = (recipe: Recipe, what: string, turns: number, iterations: number): Arm => ({
  what,
  grid: [1, 3, 10, 30, 100, 300].map((learningRate) => ({ learningRate })),
  async measure(choice, seed) {
    const { counters, policy } = await trainInMemory({
      environment: taught(seed, turns),
      engine: tabularEngine({ context: "message", prior }),
      method: recipe.build({
        ...plainAscent,
        tasks: 8,
        groupSize: 16,
        learningRate: Number(choice.learningRate),
      }),
      seed,
      iterations,
    });
    const byTurn = await answered(policy, taught(seed), seed);
    const more = {
      ...Object.fromEntries(byTurn.map((share, k) => [`turn ${k + 1}`, share])),
      shuffled: (await answered(policy, shuffled(seed), seed)).at(-1)!,
    };
    const cost = { episodes: counters.episodes ?? 0, tokens: counters["tokens.sampled"] ?? 0 };
    return { value: byTurn.at(-1)!, cost, more };
  },
});
export default defineCheck({
  id: "rl2f",
  level: "shared",
  claim:
    "Practised in dialogues with a teacher, a policy makes use of what is said and answers more new tasks.",
  metric: `share of new tasks answered within ${answers} answers, with a teacher's words in between`,
  direction: "higher",
  smallestEffect: 0.05,
  range: [0, 1],
  tuningSeeds: 2,
  unequalCost:
    "a dialogue holds several answers: single answers get three times as many episodes, so that the answers practised are about as many",
  notes:
    'The teacher sums up bounds, "over 2 under 5", so that the last message is all that a table needs. First answers get worse, as "turn 1" shows: the best first answer of a dialogue splits the numbers, that of a single answer bets on the likeliest; no reward here asks for both. `shuffled` is the share with words that concern another task. Predicting the teacher\'s words is practised but shares nothing with the answers in a table, so that it has no say here; answering one\'s own critiques was not tried.',
  baseline: arm(grpo, "GRPO on single answers", 1, 150),
  method: arm(rl2f, "dialogues of up to 4 answers with a teacher", answers, 50),
});
