import { mean } from "../../../common/statistics/statistics.ts";
import type { Model } from "../../../core/model.ts";
import { randomStream } from "../../../core/random.ts";
import type { Message } from "../../../core/types.ts";
import { replyProbabilities } from "../../../diagnose/replyProbabilities.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { method } from "../../../method/method.ts";
import { type Arm, defineCheck } from "../../../train/check.ts";
import { averageOf, plainAscent, trainingArm } from "../../../train/trainingArm.ts";
import { spying } from "./method.ts";
import {
  clueWords,
  playerWords,
  type Said,
  spies,
  spyReader,
  spySpeaker,
  statement,
  viewOf,
} from "./spies.ts";
import { alternating, type Stage } from "./spyGames.ts";

/** Probability of naming the spy, exact, over held-out games of players who are never met in training: each repeats what was named last in 70 % of its clues. */
async function recognised(policy: Model, seed: number): Promise<number> {
  const found = spies(seed)
    .tasks("test")
    .map(async (task) => {
      const said: Said[] = [];
      for (let k = 0; k < 8; k++) {
        const random = randomStream(task.seed).split("held-out player", k);
        const clue = random.next() < 0.7 ? "again" : clueWords[random.below(3)]!;
        said.push(statement(clue, viewOf(task, `p${k % 4}`), said));
      }
      const lines = said.map(({ attribute, value }, k) => `p${k % 4} a${attribute} v${value}`);
      const content = ["you are decider decider", ...lines].join(" . ");
      const prompt: readonly Message[] = [...task.prompt, { role: "user", content }];
      const p = await replyProbabilities(policy, { ...task, prompt }, playerWords);
      return p[playerWords.indexOf(task.metadata.spy as string)]!;
    });
  return mean(await Promise.all(found));
}

const arm = (what: string, stage: (iteration: number) => Stage): Arm =>
  trainingArm({
    what,
    recipe: method({
      id: "vision-zero-spo",
      family: "self-play",
      summary: what,
      frozen: { reference: {} },
      slots: (s) =>
        spying({
          ...{ games: s.groupSize, decisions: 8, decider: "decider", stage },
          ...{ beta: 0.1, lambda: 0.1, keep: 0.9 },
        })(s),
    }),
    environment: spies,
    engine: () => tabularEngine({ prior: spySpeaker, features: spyReader }),
    iterations: 60,
    settings: { ...plainAscent, tasks: 16, groupSize: 1 },
    grid: [10, 30, 100, 300].map((learningRate) => ({ learningRate })),
    metric: ({ policy }, seed) => recognised(policy, seed),
    more: async ({ curve }) => ({
      "own games in which the spy is found, first 10": averageOf(curve.slice(0, 10), "found"),
      "own games in which the spy is found, last 10": averageOf(curve.slice(-10), "found"),
      "decisions for nobody, last 10": averageOf(curve.slice(-10), "nobody"),
    }),
  });

export default defineCheck({
  id: "vision-zero-spo",
  level: "table",
  claim:
    "A decider whose stages take turns with self-play of the clues recognises more spies in games of players it never met than one that learns decisions alone, in as many games.",
  metric: "probability of naming the spy of a held-out game, exact",
  direction: "higher",
  smallestEffect: 0.03,
  range: [0, 1],
  simpler: ["baseline"],
  notes:
    "Clues alone are no arm: a decider that is not trained stays where it began. Decisions alone meet players who begin at random and go on so; a stage of clues teaches no decision, and changes the games that decisions learn from. Over 20 seeds both come to the same, with half of the decisions learnt from where stages take turns. On two other seeds a world of three attributes was tried, in which little more was learnt than to name nobody, which costs as much as a guess.",
  baseline: arm("decisions alone, of players that stay as they are", () => "decisions"),
  method: arm("clues and decisions take turns", alternating(5)),
  others: {
    both: arm("clues and decisions learnt in every game", () => "both"),
  },
});
