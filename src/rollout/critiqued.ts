import type { Ctx } from "../core/context.ts";
import { type Able, evaluatorIn } from "../core/evaluator.ts";
import type { Rollout } from "../core/slots.ts";
import { succeeded, type Trajectory } from "../core/types.ts";
import { attemptAndCritique } from "./retryWithFeedback.ts";

/** What is known of a critique. */
export interface Critiqued {
  /** Whether it calls the attempt right; undefined where it does not say. */
  readonly verdict: boolean | undefined;
  /** Whether the attempt was right. */
  readonly right: boolean;
  /** Share of refinements that are right; 1 or 0, by the attempt itself, where there is none. */
  readonly refined: number;
}

/** Settings of {@link critiqued}. */
export interface CritiquedOptions {
  /** Writes the critiques; one of the run's models, so that it can be trained. The critique's outcome is its verdict. */
  readonly writer: Able<"critique">;
  /** Critiques on each attempt, compared with each other. */
  readonly critiques: number;
  /** M, how often the actor refines an attempt that is called wrong; 0: never. */
  readonly refinements: number;
  /** Reward of a critique. */
  readonly rate: (seen: Critiqued) => number;
  /** Of refinements. */
  readonly temperature: number;
}

/**
 * Critiques as actions: an actor attempts a task, a writer criticises the attempt several times, and the actor refines what is called
 * wrong. Only the writer is trained, not the actor.
 *
 *     y ~ actor(· | x),   c_k ~ writer(· | x, y),   y′_k ~ actor(· | x, y, c_k) where c_k calls y wrong, M times, else y′_k = y
 *
 * Units are the critiques, each with a reward `rating`; those on one attempt form a group. A critique all of whose refinements failed
 * is not a unit. Attempts and refinements stay among the trajectories.
 *
 * Stats, shares: first, of right attempts; verdict.right and verdict.wrong, of true verdicts on right and on wrong attempts; and with
 * refinement refined, of what is right after a critique, repaired, of what is on wrong attempts, and broken, of what is wrong after a
 * critique on a right attempt.
 * Papers: "Critique-RL: Training Language Models for Critiquing through Two-Stage Reinforcement Learning"; several refinements:
 * "RefCritic: Training Long Chain-of-Thought Critic Models with Refinement Feedback".
 */
export function critiqued(rollout: Rollout, options: CritiquedOptions): Rollout {
  const { critiques, refinements, rate } = options;
  return async (ctx) => {
    const first = await rollout(ctx);
    const member = new Set(first.units.flatMap((u) => u.members));
    const attempts = first.trajectories.filter((t) => member.has(t.id));
    const asked = attempts.flatMap((about, a) =>
      Array.from({ length: critiques }, (_, k) =>
        criticise(ctx, about, k, first.trajectories.length + (a * critiques + k) * refinements, options),
      ),
    );
    const seen = (await Promise.all(asked)).filter((one) => one !== undefined);
    const [onRight, onWrong] = [seen.filter((s) => s.right), seen.filter((s) => !s.right)];
    const written = seen.map(({ critique, ...s }) => rewarded(critique, rate(s)));
    return {
      trajectories: [...first.trajectories, ...seen.flatMap(({ tried }) => tried), ...written],
      units: seen.map(({ about, critique: { id } }) => ({ id, group: about.id, members: [id] })),
      stats: {
        ...first.stats,
        ...share("first", attempts, (t) => Number(succeeded(t))),
        ...share("verdict.right", onRight, ({ verdict }) => Number(verdict === true)),
        ...share("verdict.wrong", onWrong, ({ verdict }) => Number(verdict === false)),
        ...(refinements > 0 && {
          ...share("refined", seen, ({ refined }) => refined),
          ...share("repaired", onWrong, ({ refined }) => refined),
          ...share("broken", onRight, ({ refined }) => 1 - refined),
        }),
      },
    };
  };
}

/** A critique with what it led to. */
interface Seen extends Critiqued {
  readonly about: Trajectory;
  readonly critique: Trajectory;
  /** The trajectories of its refinements. */
  readonly tried: readonly Trajectory[];
}

/** The k-th critique on an attempt. @param attempt number of its first refinement among the task's episodes. */
async function criticise(
  ctx: Ctx,
  about: Trajectory,
  k: number,
  attempt: number,
  { writer, refinements, temperature }: CritiquedOptions,
): Promise<Seen | undefined> {
  const said = await evaluatorIn(ctx, writer).critique(about, ctx.random.split("critique", about.id, k));
  if (!said?.written) return undefined;
  const { outcome } = said;
  const verdict = outcome && outcome !== "failure";
  const right = succeeded(about);
  const critique = { ...said.written, id: `${about.id}/critique ${k}` };
  const kept = { about, critique, verdict, right, refined: Number(right), tried: [] };
  if (refinements === 0 || verdict !== false) return kept;
  const advice = attemptAndCritique(said, about);
  const plays = Array.from({ length: refinements }, (_, m) =>
    ctx.play({ task: about.task, attempt: attempt + m, advice, temperature }),
  );
  const tried = (await Promise.all(plays)).flat();
  const again = tried.filter(({ role, end }) => role === about.role && end.kind !== "failed");
  if (again.length === 0) return undefined;
  return { ...kept, refined: again.filter(succeeded).length / again.length, tried };
}

const rewarded = (written: Trajectory, rating: number): Trajectory => ({
  ...written,
  turns: written.turns.map((turn) => ({ ...turn, rewards: { rating } })),
});

/** A mean by name; nothing where there is none to average. */
const share = <T>(name: string, all: readonly T[], of: (one: T) => number): Record<string, number> =>
  all.length === 0 ? {} : { [name]: all.reduce((sum, one) => sum + of(one) / all.length, 0) };
