/** One run of the report on curricula: a method in a shared world, at a budget of episodes. */
import { mean } from "../../src/common/statistics/statistics.ts";
import type { Model } from "../../src/core/model.ts";
import { randomStream } from "../../src/core/random.ts";
import type { Task } from "../../src/core/types.ts";
import { replyProbabilities } from "../../src/diagnose/replyProbabilities.ts";
import type { Engine } from "../../src/engine/engine.ts";
import { tabularEngine } from "../../src/engine/tabular/engine.ts";
import type { Environment } from "../../src/env/environment.ts";
import type { Recipe } from "../../src/method/method.ts";
import { trainInMemory } from "../../src/train/trainInMemory.ts";
import { plainAscent } from "../../src/train/trainingArm.ts";
import { secretsEngine, unaidedSuccess } from "../../src/worlds/arms/secrets.ts";
import { applied, chains } from "../../src/worlds/chains.ts";
import { secrets } from "../../src/worlds/secrets.ts";

/** Training ends after the iteration in which so many episodes have been played. */
export const episodes = 1600;
const [tasks, groupSize] = [8, 8];

/** A world that several checks use, with the policy that begins there and what success without help is. */
export interface World {
  readonly name: string;
  readonly about: string;
  readonly rates: readonly number[];
  environment(seed: number): Environment;
  engine(seed: number): Engine;
  success(policy: Model, environment: Environment): Promise<number>;
}

const secretsOf = (seed: number) =>
  ({ secrets: 16, lengths: [2, 4], success: [1e-4, 0.3], vocabulary: 6, seed }) as const;

const operations = ["plus3", "times7", "plus8", "times3"];
const [base, steps] = [10, 6];

/** Exact probability that a chain of the test split ends with the right value. */
async function chainSuccess(policy: Model, environment: Environment): Promise<number> {
  const values = Array.from({ length: base }, (_, v) => v);
  const next = new Map<string, Float64Array>();
  for (const operation of operations) {
    for (const value of values) {
      const seen: Task = { id: "", prompt: [{ role: "user", content: `${operation} ${value}` }], metadata: {}, seed: 0 };
      next.set(`${operation} ${value}`, await replyProbabilities(policy, seen, values.map(String)));
    }
  }
  const chances = environment.tasks("test").map(({ metadata, reference }) => {
    let at = values.map((value) => Number(value === metadata.start));
    for (const operation of metadata.operations as readonly string[]) {
      const after = values.map(() => 0);
      for (const value of values) next.get(`${operation} ${value}`)!.forEach((p, to) => void (after[to]! += at[value]! * p));
      at = after;
    }
    return at[Number(reference)]!;
  });
  return mean(chances);
}

export const worlds: readonly World[] = [
  {
    name: "secrets",
    about:
      "One reply: 32 questions ask for the first two or four words of a secret, out of six words; only all of them pay. The chance of a whole secret is at first between 1 in 10,000 and 3 in 10. Every question can be asked in three easier formats, and its answer can be shown in part. No secret says anything of another, so that success is that of the same questions, asked openly and without help.",
    rates: [3, 10, 30, 100],
    environment: (seed) => secrets(secretsOf(seed)),
    engine: (seed) => secretsEngine(secretsOf(seed)),
    success: unaidedSuccess,
  },
  {
    name: "chains",
    about:
      "Six turns: each applies one of four operations to the value so far, and only the right value at the end pays. What an operation makes of a value is the same in all chains; success is that of 100 chains that are never trained on.",
    rates: [3, 10, 30, 100],
    environment: (seed) => chains({ operations, steps, base, stepRewards: false, seed }),
    engine: (seed) =>
      tabularEngine({
        context: "message",
        // of a state that the policy knows at first, it is right in half of the cases
        prior: (context, word) => {
          if (!/^\d$/.test(word)) return -1e9;
          const at = context.findLastIndex((said) => operations.includes(said));
          const [operation, value] = [context[at] ?? "", context[at + 1] ?? ""];
          const right = operations.includes(operation) && applied(operation, Number(value), base) === Number(word);
          const isKnown = randomStream(seed).split("known", operation, value).next() < 0.7;
          return right ? (isKnown ? 3 : 0.7) : 0;
        },
      }),
    success: chainSuccess,
  },
];

/** What a run is determined by. */
export interface Key {
  readonly world: string;
  readonly method: string;
  readonly rate: number;
  readonly seed: number;
}

/** A run: success at the end; the share of groups without a difference in reward over training; the cost. */
export interface CurriculaRun extends Key {
  readonly success: number;
  readonly dead: number;
  readonly episodes: number;
  readonly tokens: number;
}

export const keyOf = ({ world, method, rate, seed }: Key): string => [world, method, rate, seed].join(" ");

export async function curriculaRun(recipe: Recipe, world: World, rate: number, seed: number): Promise<CurriculaRun> {
  const environment = world.environment(seed);
  const { curve, counters, policy } = await trainInMemory({
    environment,
    engine: world.engine(seed),
    method: recipe.build({ ...plainAscent, tasks, groupSize, learningRate: rate }),
    seed,
    iterations: 1000,
    episodes,
    contextTokens: 256,
  });
  const dead = curve.flatMap(({ deadGroups, solvedGroups = Number.NaN, unsolvedGroups = Number.NaN }) => {
    const share = deadGroups ?? solvedGroups + unsolvedGroups;
    return Number.isNaN(share) ? [] : [share];
  });
  return {
    ...{ world: world.name, method: recipe.id, rate, seed },
    success: await world.success(policy, environment),
    dead: mean(dead),
    episodes: counters.episodes ?? 0,
    tokens: counters["tokens.sampled"] ?? 0,
  };
}

/** Why a curriculum has nothing to do in these worlds; undefined for the others. */
export function excluded({ id, needs, baseline, models, students }: Recipe & { readonly students?: unknown }): string | undefined {
  if (needs.includes("hidden")) return "needs hidden states, which tables do not have";
  if (models?.teacher || students) return "its teacher has nothing to write in these worlds";
  if (models?.advisor || /beacon/.test(id)) return "its advisor knows another world";
  void baseline;
  return undefined;
}
