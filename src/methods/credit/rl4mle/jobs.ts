/** Programs with durations: the better one runs longer, so a deadline under-samples it. */
import { randomStream } from "../../../core/random.ts";
import type { Task } from "../../../core/types.ts";
import { defineEnvironment, type Environment } from "../../../env/environment.ts";
import { machine } from "../../../env/machine.ts";

/** A program: its score and its duration in simulated seconds. */
export interface Program {
  readonly score: number;
  readonly seconds: number;
}

/** Settings of {@link jobs}. */
export interface JobsOptions {
  /** By the word that runs them. Default: fast scores 0.6 in 1 s, slow scores 0.8 in 10 s. */
  readonly programs?: Readonly<Record<string, Program>>;
  /** Standard deviation of a score from run to run. Default 0. */
  readonly noise?: number;
}

const usual: Readonly<Record<string, Program>> = {
  fast: { score: 0.6, seconds: 1 },
  slow: { score: 0.8, seconds: 10 },
};

/**
 * One word runs one program. Rewards: `outcome`, its score; `seconds`, its duration by the simulated clock, which is a
 * measurement and must not be added to the score. Any other word scores 0 in 0 seconds. Success: the best program.
 * Nothing but the scores' noise is random.
 */
export function jobs({ programs = usual, noise = 0 }: JobsOptions = {}): Environment {
  const steady = noise === 0 ? (["replay"] as const) : [];
  const names = Object.keys(programs);
  const best = names.reduce((a, b) => (programs[b]!.score > programs[a]!.score ? b : a));
  const taskAt = (split: string, index: number): Task => ({
    id: `jobs/${split}/${index}`,
    prompt: [{ role: "user", content: "run a program" }],
    reference: best,
    metadata: {},
    seed: randomStream("jobs").split(split, index).seed,
  });
  return defineEnvironment({
    name: "jobs",
    summary: "run one of two programs; the better one takes ten times as long",
    abilities: new Set([...steady, "stateKey", "expert", "legal"] as const),
    roles: ["agent"],
    splits: ["train", "test"],
    limits: { turns: 1, actionTokens: 1 },
    vocabulary: () => ["run a program", ...names],
    tasks: (split) =>
      split === "train" || split === "test" ? Array.from({ length: 8 }, (_, i) => taskAt(split, i)) : [],
    expert: () => best,
    start: async (_task, random) =>
      machine<null>(
        {
          see: () => ({ messages: [], stateKey: "idle", legal: names }),
          act: (next, action, luck) => {
            const program = Object.hasOwn(programs, action) ? programs[action] : undefined;
            const success = action === best;
            return {
              next,
              rewards: {
                outcome: program ? program.score + noise * luck.normal() : 0,
                seconds: program?.seconds ?? 0,
              },
              end: { kind: "done", reason: program ? "ran" : "no such program", success },
            };
          },
        },
        null,
        random,
      ),
    verify: async (_task, trajectory) => ({ outcome: trajectory.turns.at(-1)?.rewards.outcome ?? 0 }),
  });
}
