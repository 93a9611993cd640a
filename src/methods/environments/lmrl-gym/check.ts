import { constant } from "../../../advantage/constant.ts";
import { rejectionSampled } from "../../../advantage/rejectionSampled.ts";
import { lastMessage } from "../../../common/tokens/turns.ts";
import type { Advantage } from "../../../core/slots.ts";
import { succeeded } from "../../../core/types.ts";
import { normalisedScore } from "../../../diagnose/normalisedScore.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { textMaze } from "../../../env/textMaze.ts";
import { outcome } from "../../../feedback/outcome.ts";
import type { Recipe } from "../../../method/method.ts";
import { demonstrated } from "../../../rollout/demonstrated.ts";
import { type Arm, defineCheck } from "../../../train/check.ts";
import { trainInMemory } from "../../../train/trainInMemory.ts";
import { sft } from "../../baseline/sft/method.ts";
import { lmrlGymWith } from "./method.ts";

/** Walks from each cell, by a player with random moves half of the time. */
const perTask = 10;
const turns = 50;
const rewards = ["cost"];

/** Imitation of some of the same walks. */
const imitation = (advantage: Advantage): Recipe => ({
  ...sft,
  build: (settings) => {
    const built = sft.build(settings);
    const rollout = demonstrated({ player: "flawed", perTask });
    const slots = { ...built.slots, rollout, feedback: [outcome({ rewards })], advantage: [advantage] };
    return { ...built, slots };
  },
});

const offline = (backup: "bootstrap" | "return", expectile: number): Recipe =>
  lmrlGymWith({ backup, rewards, observation: lastMessage }, { expectile }, perTask);

/** A table over the current observation; only moves are allowed. */
const moves = new Set(["north", "east", "south", "west"]);
const wordsOfMoves = (context: readonly string[], word: string): number => {
  const expected =
    context.at(-1) === "go" ? moves.has(word) : word === (moves.has(context.at(-1) ?? "") ? "<end>" : "go");
  return expected ? 0 : -1e9;
};

/** Return of a walk with this many moves. */
const returnOf = (walk: number, arrived: boolean): number => (arrived ? 1 : 0) - walk;
const meanOf = (xs: readonly number[]): number => xs.reduce((a, b) => a + b, 0) / xs.length;

/** Trains on one data set of 240 walks for some passes, then evaluates the policy from every cell. */
const arm = (what: string, recipe: Recipe, sees: "place" | "walls" = "place"): Arm => ({
  what,
  grid: [0.1, 0.3, 1, 3].map((learningRate) => ({ learningRate })),
  async measure({ learningRate }, seed) {
    const environment = textMaze({ layouts: 1, turns, sees, seed });
    const starts = environment.tasks("train");
    const engine = tabularEngine({ context: "message", prior: wordsOfMoves });
    const method = recipe.build({
      tasks: starts.length,
      epochs: 10,
      minibatches: 1,
      schedule: "constant",
      warmUp: 0,
      learningRate: Number(learningRate),
    });
    let data = Number.NaN;
    const { evaluate, counters } = await trainInMemory({
      environment,
      method,
      engine,
      seed,
      iterations: 1,
      contextTokens: 2048,
      onIteration: ({ experience }) => {
        data = meanOf(experience.trajectories.map((t) => returnOf(t.turns.length, succeeded(t))));
      },
    });
    const { reward, success } = await evaluate("train");
    const value = reward - success.mean; // reward of arriving, without the cost of the moves
    const best = meanOf(starts.map(({ metadata }) => returnOf(Number(metadata.shortest), true)));
    return {
      value,
      cost: { episodes: counters.demonstrations ?? 0, tokens: counters["tokens.trained"] ?? 0 },
      more: {
        "return of the data": data,
        "best return": best,
        score: normalisedScore(value, { random: -turns, data, best }),
        arrived: success.mean,
      },
    };
  },
});

const tenth = { best: perTask / 10 };

export default defineCheck({
  id: "lmrl-gym",
  level: "shared",
  simpler: ["all walks", "best tenth of all", "returns"],
  claim:
    "Implicit Q-learning on the walks of a half-random player beats imitation of the best tenth of them from each start.",
  metric: `mean return over all starts of a maze of 25 cells, −1 a move but the last, at most ${turns} moves`,
  direction: "higher",
  smallestEffect: 0.1,
  range: [-50, 0],
  tuningSeeds: 2,
  baseline: arm("imitation of the best tenth from each start", imitation(rejectionSampled({ keep: tenth }))),
  method: arm("implicit Q-learning", offline("bootstrap", 0.9)),
  others: {
    "all walks": arm("imitation of all walks", imitation(constant())),
    "best tenth of all": arm(
      "imitation of the best tenth of all walks, whatever their start",
      imitation(rejectionSampled({ keep: { ...tenth, among: "batch" } })),
    ),
    returns: arm("values by mean returns", offline("return", 0.5)),
    "walls only": arm("implicit Q-learning, seeing the walls only", offline("bootstrap", 0.9), "walls"),
    "walls only, best tenth": arm(
      "imitation of the best tenth from each start, seeing the walls only",
      imitation(rejectionSampled({ keep: tenth })),
      "walls",
    ),
  },
  notes:
    "One data set of ten walks from each of 24 cells; all arms learn from the same kind and number of walks, some of them from fewer tokens, since what they drop is not trained on. The score is 0 for never arriving, 50 for the data and 100 for shortest ways. With the place seen, implicit Q-learning finds nearly the shortest ways and mean returns are too noisy with ten walks a start; a critic that began at 0 instead of at its first target, and that saw turns in their order, did worse than the baseline in long mazes (−14.1 against −10.3 on one seed, twenty walks a start). With the walls alone its values bootstrap over cells that look alike, and it falls behind imitation: it would need the history. The best tenth over all starts keeps short walks from near cells only. Guessing games and Wordle are environments of their own, but no part of this check: a table of whole histories meets none of them twice. PPO was not tried.",
});
