/** The two shared worlds of the report on curricula. */
import { mean } from "../../src/common/statistics/statistics.ts";
import type { Model } from "../../src/core/model.ts";
import { randomStream } from "../../src/core/random.ts";
import type { Task } from "../../src/core/types.ts";
import { replyProbabilities } from "../../src/diagnose/replyProbabilities.ts";
import type { Engine } from "../../src/engine/engine.ts";
import { tabularEngine } from "../../src/engine/tabular/engine.ts";
import type { Environment } from "../../src/env/environment.ts";
import { secretsEngine, unaidedSuccess } from "../../src/worlds/arms/secrets.ts";
import { applied, chains } from "../../src/worlds/chains.ts";
import { secrets } from "../../src/worlds/secrets.ts";

/** A world that several checks use, the policy that begins there, and its success without help. */
export interface World {
  readonly name: string;
  readonly about: string;
  /** Sampled tokens of a run. */
  readonly tokens: number;
  /** Of plain GRPO, in that many tokens. */
  readonly iterations: number;
  /** Passes over all tasks, for a method that looks before it chooses: its default, or what fills half of the run. */
  readonly passes: number;
  /** Curricula that have nothing to act on here, and why. What else these methods change is still measured. */
  readonly idle: Readonly<Record<string, string>>;
  environment(seed: number): Environment;
  engine(seed: number): Engine;
  /** Exact, not sampled. */
  success(policy: Model, environment: Environment): Promise<number>;
}

const secretsOf = (seed: number) =>
  ({ secrets: 16, lengths: [2, 4], success: [1e-4, 0.3], vocabulary: 6, seed }) as const;

const operations = ["plus3", "times7", "plus8", "times3"];
const [base, steps] = [10, 6];

/** Of a state, an operation and a value, whether the first policy mostly knows what comes next. */
const isKnown = (seed: number, operation: string, value: string): boolean =>
  randomStream(seed).split("known", operation, value).next() < 0.7;

/** Exact probability that a chain of the test split ends with the right value; mean over the chains. */
async function chainSuccess(policy: Model, environment: Environment): Promise<number> {
  const values = Array.from({ length: base }, (_, v) => v);
  const next = new Map<string, Float64Array>();
  for (const operation of operations) {
    for (const value of values) {
      const content = `${operation} ${value}`;
      const seen: Task = { id: "", prompt: [{ role: "user", content }], metadata: {}, seed: 0 };
      next.set(content, await replyProbabilities(policy, seen, values.map(String)));
    }
  }
  const chances = environment.tasks("test").map(({ metadata, reference }) => {
    let at = values.map((value) => Number(value === metadata.start));
    for (const operation of metadata.operations as readonly string[]) {
      const after = values.map(() => 0);
      for (const value of values) {
        for (const [to, p] of next.get(`${operation} ${value}`)!.entries()) after[to]! += at[value]! * p;
      }
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
      "One reply: 32 questions ask for the first two or the first four words of 16 secrets, out of six words, and only all of them pay. The first policy's chance of a whole secret lies between 1 in 10,000 and 3 in 10. Every question can be asked in three easier formats, and its answer can be shown in part. No secret says anything of another; what they share, the words' overall weights, only disturbs. Success is that of the same 32 questions, asked openly and without help.",
    tokens: 14_400,
    iterations: 100,
    passes: 5,
    idle: {
      deepsearch: "one turn: the tree has one level",
      exit: "one turn: there is no beginning to go on from",
      "satori-coat": "one turn: there is no beginning to restart from",
    },
    environment: (seed) => secrets(secretsOf(seed)),
    engine: (seed) => secretsEngine(secretsOf(seed)),
    success: unaidedSuccess,
  },
  {
    name: "chains",
    about:
      "Six turns: each applies one of four operations to the value so far, and only the right value at the end pays; one in ten guesses it. What an operation makes of a value is the same in all of the 100 chains; the first policy mostly knows it for 7 of 10 pairs of an operation and a value, and a chain is the harder the more of the others it has. Success is that of 100 other chains, which are never trained on.",
    tokens: 19_200,
    iterations: 67,
    passes: 2,
    idle: {
      "cog-drift": "a chain has no easier formats",
      "craft-gui": "all chains are equally long",
      currreft: "a chain has no easier formats; its last phase, imitation, remains",
      "ghpo-hints": "a chain's reference is its last value alone, too short to be shown in part",
    },
    environment: (seed) => chains({ operations, steps, base, stepRewards: false, seed }),
    engine: (seed) =>
      tabularEngine({
        context: "message",
        prior: (context, word) => {
          if (!/^\d$/.test(word)) return -1e9;
          const at = context.findLastIndex((said) => operations.includes(said));
          const [operation = "", value = ""] = context.slice(at < 0 ? context.length : at);
          if (!operations.includes(operation)) return 0;
          if (applied(operation, Number(value), base) !== Number(word)) return 0;
          return isKnown(seed, operation, value) ? 3 : 1.1;
        },
      }),
    success: chainSuccess,
  },
];
