import { rewritten } from "../../../common/tokens/rewrite.ts";
import { concatIds } from "../../../common/tokens/sequence.ts";
import type { Ctx } from "../../../core/context.ts";
import type { Critique } from "../../../core/critique.ts";
import { type Able, evaluatorIn } from "../../../core/evaluator.ts";
import type { Codec } from "../../../core/model.ts";
import type { Rollout } from "../../../core/slots.ts";
import { paid, succeeded, type Trajectory, type Turn } from "../../../core/types.ts";

/** Settings of {@link revising}. */
export interface RevisingOptions {
  /** Judges the actions of a bad episode: its marks call turns good or poor. */
  readonly critiquer: Able<"critique">;
  /** What the agent says between the wrong action and the better ones: a turn of its own, without effect on the environment. */
  readonly thought: string;
  /** Bad episodes that are revised for each task. */
  readonly most: number;
  /** β: an episode is bad where it is worth at most this. */
  readonly bad: number;
  /** α: worth above which an episode is imitated, at the beginning and at the end of training; linear between them. */
  readonly good: readonly [first: number, last: number];
  /** "first error": the episode is cut after its first action that is called wrong. "end": after its last action. */
  readonly at: "first error" | "end";
  /** Default: the sum of the rewards. */
  readonly worth?: (t: Trajectory) => number;
}

/** Number of first actions that two episodes share: the depth of the situation where they part. */
export function sharedTurns(a: Trajectory, b: Trajectory): number {
  const parting = a.turns.findIndex(
    ({ action }, k) => action.content.trim() !== b.turns[k]?.action.content.trim(),
  );
  return parting < 0 ? a.turns.length : parting;
}

/** t′: the first turn from `from` on that is called poor; the last turn where none is. */
export function firstError({ turns }: Trajectory, critique: Critique | undefined, from: number): number {
  const poor = (critique?.marks ?? []).filter(({ good, turn }) => !good && turn >= from);
  return poor.reduce((least, { turn }) => Math.min(least, turn), turns.length - 1);
}

/** An action of a revision, and the turn that it is taken from; none for the thought. */
interface Planned {
  readonly text: string;
  readonly of?: Turn;
  /** Context, which is not imitated. */
  readonly forced: boolean;
}

/**
 * The actions of a revision:
 *
 *     bad[0 … t′], thought, good[t0 …]        t0: where the two part; the loss begins at the thought
 */
export function spliced(bad: Trajectory, good: Trajectory, cut: number, thought: string): Planned[] {
  const planned = (turn: Turn, forced: boolean): Planned => ({
    ...{ text: turn.action.content, of: turn, forced },
  });
  return [
    ...bad.turns.slice(0, cut + 1).map((turn) => planned(turn, true)),
    { text: thought, forced: false },
    ...good.turns.slice(sharedTurns(bad, good)).map((turn) => planned(turn, false)),
  ];
}

/**
 * Makes revisions from the episodes of a search, and keeps them with the good episodes as what is imitated:
 *
 *     bad: worth ≤ β,   good: worth > α(progress),   paired where they share most actions
 *     revision: bad up to its first wrong action, the thought, and the good actions from where the two part
 *
 * The actions of a revision are played in the environment again, as a program, and only revisions that succeed are kept: the
 * good actions were found in another situation than that after the wrong one, and fail where its effect cannot be undone. The
 * wrong actions are forced tokens: context, and not imitated. Revisions have origin "demonstrated" and unknown log-probabilities.
 * Each kept trajectory is a unit of its task's group; bad episodes are in none. The first good episode of those that share equally
 * much is taken.
 *
 * Stats: `revised`, valid revisions per bad episode that was tried; `cut`, mean turns before the thought.
 * Paper: "Agent-R: Training Language Model Agents to Reflect via Iterative Self-Training".
 */
export function revising(rollout: Rollout, options: RevisingOptions): Rollout {
  const {
    worth = paid,
    bad: bar,
    good: [first, last],
    most,
  } = options;
  return async (ctx) => {
    const found = await rollout(ctx);
    const { iteration, iterations = 1 } = ctx.clock;
    const alpha = first + ((last - first) * iteration) / Math.max(1, iterations - 1);
    const whole = found.trajectories.filter((t) => t.end.kind !== "failed" && t.turns.length > 0);
    // at α = 1 the best possible return still counts
    const goodOnes = whole.filter((t) => worth(t) > Math.min(alpha, 1 - 1e-9));
    const tried = [...Map.groupBy(whole, (t) => t.task)].flatMap(([task, episodes]) => {
      const own = goodOnes.filter((t) => t.task === task);
      return episodes
        .filter((t) => worth(t) <= bar)
        .slice(0, own.length > 0 ? most : 0)
        .map((bad, n) => ({ bad, good: nearest(bad, own), n }));
    });
    const made = await Promise.all(tried.map(({ bad, good, n }) => revisionOf(ctx, bad, good, n, options)));
    const revisions = made.filter((t) => t !== undefined);
    const kept = [...goodOnes, ...revisions];
    const cuts = revisions.map(({ lineage }) => lineage?.turn ?? 0);
    return {
      ...found,
      trajectories: [...found.trajectories, ...revisions],
      units: kept.map(({ id, task }) => ({ id, group: task, members: [id] })),
      stats: {
        ...found.stats,
        ...(tried.length > 0 && { revised: revisions.length / tried.length }),
        ...(cuts.length > 0 && { cut: cuts.reduce((a, b) => a + b, 0) / cuts.length }),
      },
    };
  };
}

/** The good episode that shares most actions with a bad one. @param goods not empty. */
const nearest = (bad: Trajectory, goods: readonly Trajectory[]): Trajectory =>
  goods.reduce((best, t) => (sharedTurns(bad, t) > sharedTurns(bad, best) ? t : best));

/** A revision that was played in the environment and succeeded there. */
async function revisionOf(
  ctx: Ctx,
  bad: Trajectory,
  good: Trajectory,
  attempt: number,
  { critiquer, thought, at }: RevisingOptions,
): Promise<Trajectory | undefined> {
  const said =
    at === "end"
      ? undefined
      : await evaluatorIn(ctx, critiquer).critique(bad, ctx.random.split("judge", bad.id));
  const cut = firstError(bad, said, sharedTurns(bad, good));
  const plan = spliced(bad, good, cut, thought);
  const [played] = await ctx.play({
    task: bad.task,
    attempt,
    limits: { turns: plan.length },
    program: {
      name: "revision",
      act: (_task, conversation) =>
        plan[conversation.filter(({ role }) => role === "assistant").length]?.text ?? thought,
    },
  });
  if (!played || !succeeded(played)) return undefined;
  const { codec } = ctx.model();
  return {
    ...rewritten(withTokens(played, plan, codec), `${played.id}/tokens`, codec, (messages) => messages),
    lineage: { parent: bad.id, turn: cut + 1, why: "rewrite" },
  };
}

/** The turns of a program with the tokens that were sampled for each action; prompts are rendered afterwards. */
function withTokens(t: Trajectory, plan: readonly Planned[], codec: Codec): Trajectory {
  const turns = t.turns.map((turn, k): Turn => {
    const { of, text, forced } = plan[k]!;
    const action = of?.tokens?.action ?? concatIds([codec.encode(text), Int32Array.of(codec.endId)]);
    const unknown = new Float32Array(action.length).fill(Number.NaN);
    return {
      ...turn,
      model: of?.model ?? "policy",
      stop: of?.stop ?? "eos",
      tokens: {
        ...{ prompt: new Int32Array(0), action, logp: unknown, behaviour: unknown },
        ...(forced && { forced: new Uint8Array(action.length).fill(1) }),
      },
    };
  });
  return { ...t, turns };
}
