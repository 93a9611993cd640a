import type { Model } from "../../../core/model.ts";
import { meanOver, replyProbabilities } from "../../../diagnose/replyProbabilities.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import type { Recipe } from "../../../method/method.ts";
import { type Arm, defineCheck } from "../../../train/check.ts";
import { trainInMemory } from "../../../train/trainInMemory.ts";
import { plainAscent } from "../../../train/trainingArm.ts";
import { lock, settingsOf } from "../../../worlds/lock.ts";
import { grpo } from "../../baseline/grpo/method.ts";
import { deepsearch } from "./method.ts";

const [locks, wheels] = [12, 6];
/** Actions that every arm may sample. */
const budget = 3_000;
/** First probability of the right setting of a wheel: a lock opens in 3 of 100 attempts. */
const chance = 0.55;

/** Next turns of a node: as many as a wheel has settings. */
const width = 4;

const world = (seed: number) => lock({ locks, wheels, seed });

/** A row for each lock and wheel. */
function engine(seed: number) {
  const right = new Map(
    world(seed)
      .tasks("train")
      .map((task) => [String(task.metadata.number), settingsOf(task)]),
  );
  return tabularEngine({
    context: "message",
    prior: (context, word) => {
      if (!/^s\d$/.test(word)) return -1e9;
      const at = context.indexOf("lock");
      return right.get(context[at + 1]!)?.[Number(context[at + 3])] === word
        ? Math.log((3 * chance) / (1 - chance))
        : 0;
    },
  });
}

/** Probability that a lock opens, exact; mean over the locks. */
const opened = (policy: Model, seed: number): Promise<number> =>
  meanOver(world(seed).tasks("train"), async (task) => {
    let whole = 1;
    for (const [wheel, setting] of settingsOf(task).entries()) {
      const content = `lock ${task.metadata.number} wheel ${wheel}`;
      const asked = { ...task, prompt: [{ role: "user" as const, content }] };
      whole *= (await replyProbabilities(policy, asked, [setting]))[0]!;
    }
    return whole;
  });

/** Trains until the actions are used up; the last iteration may take a little more. */
const arm = (what: string, recipe: Recipe, groupSize: number, options = {}): Arm => ({
  what,
  grid: [100, 300, 1000, 3000].map((learningRate) => ({ learningRate })),
  async measure({ learningRate }, seed) {
    const used = new AbortController();
    let policy: Model | undefined;
    let cost = { episodes: 0, tokens: 0 };
    const searches: number[] = [];
    const settings = { ...plainAscent, tasks: 4, groupSize, learningRate: Number(learningRate) };
    try {
      await trainInMemory({
        environment: world(seed),
        engine: engine(seed),
        method: recipe.build(settings, options),
        seed,
        iterations: 1_000_000,
        stop: used.signal,
        onIteration: ({ experience }, { counters }, trained) => {
          policy = trained;
          cost = { episodes: counters.episodes ?? 0, tokens: counters["tokens.sampled"] ?? 0 };
          if (experience.stats?.found !== undefined) searches.push(experience.stats.found);
          if (cost.tokens >= budget) used.abort();
        },
      });
    } catch (e) {
      if (!used.signal.aborted) throw e;
    }
    return {
      value: await opened(policy!, seed),
      cost,
      ...(searches.length > 0 && { more: { "searches that opened, first": searches[0]! } }),
    };
  },
});

export default defineCheck({
  id: "deepsearch",
  level: "shared",
  simpler: ["baseline", "forty attempts"],
  claim:
    "At equal sampled actions, attempts that a tree search finds, with the values of its nodes as credit, teach more than whole attempts.",
  metric: "probability that a lock opens, exact, mean over all locks, after 3000 actions",
  direction: "higher",
  smallestEffect: 0.03,
  range: [0, 1],
  unequalCost:
    "equal sampled actions; an episode of the search is one turn from a stored beginning, one of GRPO a whole attempt",
  notes:
    "Nothing shows an early mistake here: the attempts that share a beginning repeat its mistakes, and turns are played that are in no attempt. Tried beside it: the search of every lock to the end, and GRPO with forty attempts, which play as many turns an iteration as a search does.",
  baseline: arm("GRPO, eight attempts at a lock", grpo, 8),
  method: arm("tree search, eight leaves, then a stored success", deepsearch, 8, { width }),
  others: {
    "forty attempts": arm("GRPO, forty attempts at a lock", grpo, 40),
    "search alone": arm("tree search of every lock to the end", deepsearch, 8, { width, stored: -1 }),
  },
});
