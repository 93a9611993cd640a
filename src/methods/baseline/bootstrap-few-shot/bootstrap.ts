/** Successful episodes as examples in the prompt, as pieces of a method. */
import { z } from "zod";
import { promptAdditionOf } from "../../../common/artefacts/applyArtefact.ts";
import { joinedOrigins, originsIn, writtenBy } from "../../../common/artefacts/origins.ts";
import { isReserved } from "../../../common/artefacts/reserved.ts";
import { mean } from "../../../common/statistics/statistics.ts";
import type { Example, InstructionSet } from "../../../core/artefact.ts";
import type { Ctx } from "../../../core/context.ts";
import type { Json } from "../../../core/json.ts";
import { shuffled } from "../../../core/random.ts";
import type { Rollout, Update } from "../../../core/slots.ts";
import { paid, succeeded, type Task, type Trajectory } from "../../../core/types.ts";
import { instructionsOf, playedUnder } from "../../../memory/instructed.ts";

/** Settings of {@link bootstrapped}. */
export interface BootstrapOptions {
  /** Most examples in a prompt. Default 4. */
  readonly examples?: number;
  /** Most characters of one example; longer episodes are not used. Default 2000. */
  readonly characters?: number;
  /** Number of stored successes, the latest per task; the oldest are removed first. Default 32. */
  readonly kept?: number;
  /** Sets tried in each iteration. Default 1. */
  readonly tries?: number;
  /** Whether a set must earn more than the current one to replace it; otherwise every new set does. Default true. */
  readonly selects?: boolean;
  /** Attempts at each training task. Default 1. */
  readonly groupSize?: number;
  readonly temperature?: number;
}

/** The state in the run's memory. */
export const demonstrationsKey = "demonstrations";

const example = z.custom<Example & Json>((value) => typeof value === "object" && value !== null);
const stateSchema = z.object({
  successes: z.array(z.object({ task: z.string(), example })),
  /** Mean reward of the current set on the held-out tasks. */
  score: z.number().nullable(),
});
type Kept = z.output<typeof stateSchema>;

/**
 * The rollout plays under the current set of examples; episodes that succeed become examples. The update draws a random
 * set of them, one per task, evaluates it on the held-out tasks (`isReserved`), and makes it current if it earns more
 * there: later successes come from better prompts. A set that leaks a held-out task is refused.
 * Stats: successes, score.best, proposals, proposals.refused, joined.
 * Paper: "DSPy: Compiling Declarative Language Model Calls into Self-Improving Pipelines".
 */
export function bootstrapped(options: BootstrapOptions): {
  readonly rollout: Rollout;
  readonly update: Update;
} {
  const { groupSize = 1, tries = 1, selects = true } = options;
  return {
    async rollout(ctx) {
      const tasks = ctx.tasks.filter((task) => !isReserved(task));
      const attempts = Array.from({ length: groupSize }, (_, attempt) =>
        playedUnder(ctx, instructionsOf(ctx.artefacts.current()), tasks, attempt, options),
      );
      return { trajectories: (await Promise.all(attempts)).flat(), units: [] };
    },
    async update(ctx, _batch, _objectives, { trajectories }) {
      const before = stateOf(ctx);
      const base = instructionsOf(ctx.artefacts.current());
      const held = ctx.tasks.filter(isReserved);
      const successes = remembered(before, trajectories.filter(succeeded), base, options);
      let score = before.score ?? (await earned(ctx, base, held, groupSize, options));
      const stats = { proposals: 0, "proposals.refused": 0, joined: 0 };
      for (let i = 0; i < tries && successes.length > 0; i++) {
        const examples = drawn(ctx, successes, i, options);
        const artefact = { ...base, examples };
        stats.proposals++;
        const proposed = ctx.artefacts.propose({
          name: "examples",
          artefact,
          parents: [ctx.artefacts.current()?.id ?? []].flat(),
          why: `${examples.length} episodes that succeeded, as examples`,
          origins: joinedOrigins("bootstrap", originsIn(artefact)),
        });
        if ("refused" in proposed) {
          stats["proposals.refused"]++;
          continue;
        }
        const reward = await earned(ctx, artefact, held, groupSize + 1 + i, options);
        if (selects && reward <= score) continue;
        score = reward;
        stats.joined++;
        ctx.artefacts.adopt(proposed.id);
      }
      const next: Json = { successes: successes.map((one) => ({ ...one })), score };
      ctx.memory.set(demonstrationsKey, next);
      return { steps: 0, successes: successes.length, "score.best": score, ...stats };
    },
  };
}

const stateOf = (ctx: Ctx): Kept =>
  stateSchema.parse(ctx.memory.get(demonstrationsKey) ?? { successes: [], score: null });

/** Mean reward on these tasks; 0 where every episode failed. */
async function earned(
  ctx: Ctx,
  artefact: InstructionSet,
  tasks: readonly Task[],
  attempt: number,
  options: BootstrapOptions,
): Promise<number> {
  const ended = (await playedUnder(ctx, artefact, tasks, attempt, options)).filter(
    ({ end }) => end.kind !== "failed",
  );
  return ended.length > 0 ? mean(ended.map(paid)) : 0;
}

/** The stored successes with new ones added, each as an example. */
function remembered(
  { successes }: Kept,
  fresh: readonly Trajectory[],
  told: InstructionSet,
  { characters = 2000, kept = 32 }: BootstrapOptions,
): Kept["successes"] {
  const made = fresh.flatMap((t) => {
    const one = exampleOf(t, told);
    const length = one.messages.reduce((sum, { content }) => sum + content.length, 0);
    return length > characters
      ? []
      : [{ task: t.task, example: example.parse(JSON.parse(JSON.stringify(one))) }];
  });
  const latest = new Map([...successes, ...made].map((one) => [one.task, one] as const));
  return [...latest.values()].slice(-kept);
}

/** The conversation of an episode without the system messages and earlier examples. */
export function exampleOf(t: Trajectory, told: InstructionSet): Example {
  const last = t.turns.at(-1);
  const messages = [...(last?.prompt ?? []), ...(last ? [last.action] : [])].filter(
    ({ role }) => role !== "system",
  );
  return {
    id: t.id,
    messages: messages.slice(promptAdditionOf(told, []).examples.length),
    origins: { ...writtenBy("bootstrap"), trajectories: [t.id] },
  };
}

function drawn(
  ctx: Ctx,
  successes: Kept["successes"],
  i: number,
  { examples = 4 }: BootstrapOptions,
): readonly Example[] {
  return shuffled(successes, ctx.random.split("examples", i))
    .slice(0, examples)
    .map((one) => one.example);
}
