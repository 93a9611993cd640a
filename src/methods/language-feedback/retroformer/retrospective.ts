import type { Ctx } from "../../../core/context.ts";
import { type Able, evaluatorIn } from "../../../core/evaluator.ts";
import type { Rollout } from "../../../core/slots.ts";
import { type Message, paid, succeeded, type Trajectory } from "../../../core/types.ts";

/** Settings of {@link retrospective}. */
export interface RetrospectiveOptions {
  /** Writes a reflection on a failed attempt; one of the run's models, so that it can be trained. */
  readonly writer: Able<"critique">;
  /** Reflections on each failed attempt, compared with each other. Default 1. */
  readonly reflections?: number;
  /** Attempts with each reflection; its rating is their mean. Default 1. */
  readonly runs?: number;
  /** Number of retries per task. Default 1. */
  readonly retries?: number;
  /** Number of latest reflections in the actor's prompt. Default 3. */
  readonly memory?: number;
  /** Reward of a reflection: the increase of the return over the attempt it is about, or the next attempt's return. Default "difference". */
  readonly rating?: "difference" | "after";
}

/**
 * Reflections as actions: a writer reflects on failed attempts, the actor tries again with the reflection in its prompt,
 * and the writer is rewarded by the change. Only the writer is trained, not the actor.
 *
 *     y[k] ~ writer(· | attempt k),   attempt k + 1 ~ actor(· | task, the last reflections, y[k])
 *     r(y[k]) = G[k + 1] − G[k]         G: the environment's return; the mean of several runs
 *
 * Units are the reflections, each with a reward `rating`; those on one attempt form a group. Solved tasks are not tried
 * again, and the next retry continues from the first reflection's first run. A reflection that cannot be parsed, or after
 * which every episode failed, is not a unit. Attempts stay among the trajectories.
 *
 * Stats: reflections per attempt of the rollout; over reflections, rating and repaired (the share of retries that
 * succeeded). Paper: "Retroformer: Retrospective Large Language Agents with Policy Gradient Optimization".
 */
export function retrospective(rollout: Rollout, options: RetrospectiveOptions): Rollout {
  return async (ctx) => {
    const first = await rollout(ctx);
    const member = new Set(first.units.flatMap((u) => u.members));
    const attempts = first.trajectories.filter((t) => member.has(t.id));
    const trials = await Promise.all(
      attempts.map((t, i) =>
        tryAgain(ctx, t, (n) => attempts.length * n + i + first.trajectories.length, options),
      ),
    );
    const rated = trials.flat();
    const retries = rated.flatMap((r) => r.runs);
    const mean = (xs: readonly number[]): number => xs.reduce((sum, x) => sum + x / xs.length, 0);
    return {
      trajectories: [...first.trajectories, ...retries, ...rated.map((r) => r.reflection)],
      units: rated.map(({ reflection, about }) => ({
        id: reflection.id,
        group: about.id,
        members: [reflection.id],
      })),
      stats: {
        ...first.stats,
        ...(attempts.length > 0 && { reflections: rated.length / attempts.length }),
        ...(rated.length > 0 && {
          rating: mean(rated.map((r) => r.rating)),
          repaired: mean(retries.map((t) => (succeeded(t) ? 1 : 0))),
        }),
      },
    };
  };
}

/** A reflection with its reward. */
interface Rated {
  readonly about: Trajectory;
  readonly text: string;
  readonly reflection: Trajectory;
  readonly runs: readonly Trajectory[];
  readonly rating: number;
}

/** @param numbered the n-th further episode's own number among those of its task. */
async function tryAgain(
  ctx: Ctx,
  first: Trajectory,
  numbered: (n: number) => number,
  options: RetrospectiveOptions,
): Promise<readonly Rated[]> {
  const { reflections = 1, runs = 1, retries = 1 } = options;
  const out: Rated[] = [];
  const heard: string[] = [];
  let t = first;
  for (let k = 0; k < retries && !succeeded(t); k++) {
    const about = t;
    const asked = Array.from({ length: reflections }, (_, g) =>
      rate(ctx, about, g, heard, (run) => numbered((k * reflections + g) * runs + run), options),
    );
    const rated = (await Promise.all(asked)).filter((r) => r !== undefined);
    out.push(...rated);
    const [next] = rated;
    if (!next) break;
    heard.push(next.text);
    t = next.runs[0] ?? t;
  }
  return out;
}

/** The g-th reflection on an attempt, and its result. */
async function rate(
  ctx: Ctx,
  about: Trajectory,
  g: number,
  heard: readonly string[],
  numbered: (run: number) => number,
  { writer, runs = 1, memory = 3, rating = "difference" }: RetrospectiveOptions,
): Promise<Rated | undefined> {
  const random = ctx.random.split("reflection", about.id, g);
  const critique = await evaluatorIn(ctx, writer).critique(about, random);
  if (!critique?.written) return undefined;
  const advice = [...heard, critique.text]
    .slice(-memory)
    .map((content): Message => ({ role: "user", content }));
  const episodes = Array.from({ length: runs }, (_, run) =>
    ctx.play({ task: about.task, attempt: numbered(run), advice }),
  );
  const again = (await Promise.all(episodes))
    .flat()
    .filter(({ role, end }) => role === about.role && end.kind !== "failed");
  if (again.length === 0) return undefined;
  const after = again.reduce((sum, run) => sum + paid(run) / again.length, 0);
  const value = rating === "difference" ? after - paid(about) : after;
  const reflection = rewarded(critique.written, `${about.id}/reflection ${g}`, value);
  return { about, text: critique.text, reflection, runs: again, rating: value };
}

/** The reflection's trajectory, with its reward on the last turn. */
const rewarded = (written: Trajectory, id: string, rating: number): Trajectory => ({
  ...written,
  id,
  turns: written.turns.map((turn, k) =>
    k === written.turns.length - 1 ? { ...turn, rewards: { rating } } : turn,
  ),
});
