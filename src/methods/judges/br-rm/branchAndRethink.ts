import type { Ctx } from "../../../core/context.ts";
import type { Rollout } from "../../../core/slots.ts";
import { type Message, succeeded, type Task, type Trajectory, type Unit } from "../../../core/types.ts";

/** What the judge is asked in its two turns. */
export const branchWords = { branch: "criteria ?", rethink: "rethink" } as const;

/** Settings of {@link branchAndRethink}. */
export interface BranchAndRethinkOptions {
  /** Judgements of each task; they form one group. Default 8. */
  readonly groupSize?: number;
  /** Default 1. */
  readonly temperature?: number;
  /** The first turn's question. */
  readonly branch?: string;
  /** The second turn's question, after the first turn. */
  readonly rethink?: string;
  /** Criteria that are given in place of a first turn of the judge's own. Default: it chooses. */
  readonly given?: (task: Task, attempt: number) => string;
  /** Whether the first turn is trained with the second one's reward. Default true. */
  readonly together?: boolean;
}

/**
 * A judgement in two turns: at first the judge names the criteria that matter for this pair, then it looks again with those in mind and
 * gives its verdict.
 *
 *     τ_1 ~ π(· | x, branch)          τ_2 ~ π(· | x, branch, τ_1, rethink)
 *
 * Both turns are episodes of the environment, of which only the second is graded. They are one unit, so that both get the judgement's
 * advantage. A judgement of which a turn fails is left out.
 *
 * Stats: judged.right, share of judgements with a right verdict.
 * Paper: "Think Twice: Branch-and-Rethink Reasoning Reward Model".
 */
export function branchAndRethink(options: BranchAndRethinkOptions = {}): Rollout {
  const { groupSize = 8, together = true } = options;
  return async (ctx) => {
    const judgements = await Promise.all(
      ctx.tasks.flatMap((task) =>
        Array.from({ length: groupSize }, (_, attempt) => judgement(ctx, task, attempt, options)),
      ),
    );
    const whole = judgements.filter((turns) => turns !== undefined);
    const units = whole.map((turns): Unit => {
      const last = turns.at(-1)!;
      return { id: last.id, group: last.task, members: together ? turns.map(({ id }) => id) : [last.id] };
    });
    const right = whole.filter((turns) => succeeded(turns.at(-1)!)).length;
    const stats = whole.length > 0 ? { "judged.right": right / whole.length } : {};
    return { trajectories: whole.flat(), units, stats };
  };
}

/** The trajectories of both turns, or of the second one where the criteria are given. */
async function judgement(
  ctx: Ctx,
  task: Task,
  attempt: number,
  { temperature, branch = branchWords.branch, rethink = branchWords.rethink, given }: BranchAndRethinkOptions,
): Promise<readonly Trajectory[] | undefined> {
  const shared = { task: task.id, ...(temperature === undefined ? {} : { temperature }) };
  const turns: Trajectory[] = [];
  let criteria = given?.(task, attempt);
  if (criteria === undefined) {
    const [first] = await ctx.play({ ...shared, attempt: 2 * attempt, advice: branch, limits: { turns: 1 } });
    if (!isPlayed(first)) return undefined;
    criteria = first.turns.at(-1)!.action.content;
    turns.push(first);
  }
  const advice: readonly Message[] = [
    { role: "user", content: branch },
    { role: "assistant", content: criteria },
    { role: "user", content: rethink },
  ];
  const [second] = await ctx.play({ ...shared, attempt: 2 * attempt + 1, advice });
  return isPlayed(second) ? [...turns, second] : undefined;
}

const isPlayed = (t: Trajectory | undefined): t is Trajectory =>
  t !== undefined && t.end.kind !== "failed" && t.turns.length > 0;
