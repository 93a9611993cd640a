import type { Ctx } from "../../../core/context.ts";
import type { Rollout } from "../../../core/slots.ts";
import { actionTokens, succeeded, type Task, type Trajectory, type Unit } from "../../../core/types.ts";

/** Settings of {@link hintedWhereHopeless}. */
export interface HintedOptions {
  /** Attempts at each task and level. Default 8. */
  readonly groupSize?: number;
  /** Default 1. */
  readonly temperature?: number;
  /** Shares of the reference that a hint shows, one after the other, each in (0, 1). Default 25, 50 and 75 %. */
  readonly shares?: readonly number[];
  /** Iterations at the beginning without hints. Default 0. */
  readonly plainFor?: number;
}

/** The word that a hint begins with. */
export const hintWord = "hint";

/** The first words of a reference: a share of them, rounded half up; undefined where that is none or all of them. */
export function hintOf(task: Task, share: number): string | undefined {
  const words = task.reference?.split(/\s+/).filter(Boolean) ?? [];
  const count = Math.floor(share * words.length + 0.5);
  return count > 0 && count < words.length ? [hintWord, ...words.slice(0, count)].join(" ") : undefined;
}

/**
 * Plays a group of attempts at each task. Where none succeeds, the whole group is made again with the beginning of the
 * reference in the prompt, and again with more of it, until one succeeds or no longer hint is left:
 *
 *     w* = the smallest w in {0, ¼, ½, ¾} at which an attempt succeeds, else the largest
 *     the group of x: y[1..G] ~ π(· | x, first w* of the reference)
 *
 * The last group of a task is its units, under the prompt that it was made with; the groups before it are played for nothing:
 * they are in no unit, and their tokens count as discarded. Hints are messages of the prompt, so no gradient passes
 * through them. A task without a reference gets none. Stats: `hinted`, the share of tasks with a hint; `hint`, the mean share
 * of the reference that was shown; `unaided`, success of the attempts without a hint, which a hint never enters.
 * Paper: "GHPO: Adaptive Guidance for Stable and Efficient LLM Reinforcement Learning".
 */
export function hintedWhereHopeless(options: HintedOptions = {}): Rollout {
  const { groupSize = 8, temperature, shares = [0.25, 0.5, 0.75], plainFor = 0 } = options;
  return async (ctx) => {
    const levels = ctx.clock.iteration < plainFor ? [] : shares;
    const played = await Promise.all(
      ctx.tasks.map((task) => ofTask(ctx, task, levels, { groupSize, temperature })),
    );
    const trajectories = played.flatMap(({ groups }) => groups.flat());
    const unaided = played.flatMap(({ groups }) => groups[0]!.filter(isWhole));
    return {
      trajectories,
      units: played.flatMap(({ groups }) => unitsOf(groups.at(-1)!)),
      stats: {
        hinted: meanOf(played.map(({ share }) => Number(share > 0))),
        hint: meanOf(played.map(({ share }) => share)),
        unaided: meanOf(unaided.map((t) => Number(succeeded(t)))),
      },
    };
  };
}

/** The groups of a task, each with a longer hint than the one before, and the share that the last one saw. */
async function ofTask(
  ctx: Ctx,
  task: Task,
  shares: readonly number[],
  { groupSize, temperature }: { readonly groupSize: number; readonly temperature: number | undefined },
) {
  const group = async (level: number, advice?: string): Promise<readonly Trajectory[]> =>
    (
      await Promise.all(
        Array.from({ length: groupSize }, (_, i) =>
          ctx.play({
            task: task.id,
            attempt: level * groupSize + i,
            ...(advice === undefined ? { together: groupSize } : { advice }),
            ...(temperature === undefined ? {} : { temperature }),
          }),
        ),
      )
    ).flat();
  const groups = [await group(0)];
  let shown = 0;
  let before: string | undefined;
  for (const [level, share] of shares.entries()) {
    const last = groups.at(-1)!;
    const hint = hintOf(task, share);
    if (last.some(succeeded)) break;
    if (hint === undefined || hint === before) continue; // a short reference has fewer levels
    before = hint;
    ctx.count(
      "tokens.discarded",
      last.reduce((sum, t) => sum + actionTokens(t), 0),
    );
    groups.push(await group(level + 1, hint));
    shown = share;
  }
  return { groups, share: shown };
}

const isWhole = (t: Trajectory): boolean => t.end.kind !== "failed" && t.turns.length > 0;

const unitsOf = (group: readonly Trajectory[]): Unit[] =>
  group.filter(isWhole).map((t) => ({ id: t.id, group: t.task, members: [t.id] }));

const meanOf = (xs: readonly number[]): number => xs.reduce((a, b) => a + b, 0) / Math.max(1, xs.length);
