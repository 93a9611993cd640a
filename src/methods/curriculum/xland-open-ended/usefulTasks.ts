import { mapById } from "../../../common/mapById.ts";
import type { Ctx } from "../../../core/context.ts";
import type { Json } from "../../../core/json.ts";
import { shuffled } from "../../../core/random.ts";
import type { Data } from "../../../core/slots.ts";
import { type Id, paid, type Task } from "../../../core/types.ts";

/** Name of the frozen model that is the control. */
export const control = "control";

/** Shares of episodes that decide whether a task is useful. */
export interface Tests {
  /** p_s. */
  readonly tooEasy: number;
  /** p_>. */
  readonly separates: number;
  /** p_c. */
  readonly byChance: number;
}

/** Settings of {@link usefulTasks}. */
export interface UsefulTasksOptions extends Tests {
  /** Tasks per iteration, at most. */
  readonly tasks: number;
  /** E, test episodes of each player. */
  readonly episodes: number;
  /** Iterations for which tasks that passed are kept. */
  readonly uses: number;
  /** Most tasks tested at a time. */
  readonly tries: number;
}

/** Returns from which an episode counts as mastered, as better than the control, and as scored by chance: m_s, m_>, m_c. */
const margins = { mastered: 0.9, better: 0.1, scored: 0.5 } as const;

const shareAbove = (returns: readonly number[], bar: number): number =>
  returns.filter((x) => x > bar).length / returns.length;

/**
 * Whether a task is worth training on, by returns in [0, 1] of the agent and of the control at it, at least one each:
 *
 *     share(agent > m_s) < p_s,   share(agent > mean(control) + m_>) > p_>,   share(control > m_c) < p_c
 *
 * Paper: "Open-Ended Learning Leads to Generally Capable Agents".
 */
export function isUseful(
  agent: readonly number[],
  weak: readonly number[],
  { tooEasy, separates, byChance }: Tests,
): boolean {
  const usual = weak.reduce((sum, x) => sum + x / weak.length, 0);
  return (
    shareAbove(agent, margins.mastered) < tooEasy &&
    shareAbove(agent, usual + margins.better) > separates &&
    shareAbove(weak, margins.scored) < byChance
  );
}

/** Tasks that passed, and the iterations that they are still kept for. */
export interface UsefulState extends Readonly<Record<string, Json>> {
  readonly passed: readonly Id[];
  readonly left: number;
}

/**
 * Tasks that pass three tests with the policy as it is. Proposals are the training tasks in random order; they are tested until
 * enough have passed or `tries` are tested. Where none has passed, the first proposals are taken for one iteration. Test episodes
 * count as the run's; nothing is learnt from them. Both players meet the same tasks with the same seeds.
 * Paper: "Open-Ended Learning Leads to Generally Capable Agents".
 */
export function usefulTasks(options: UsefulTasksOptions): Data<UsefulState> {
  const { tasks: wanted, uses, tries } = options;
  return {
    name: "useful tasks",
    init: () => ({ passed: [], left: 0 }),
    async choose(ctx, tasks, state) {
      const byId = mapById(tasks);
      if (state.left > 0) {
        const kept = state.passed.flatMap((id) => byId.get(id) ?? []);
        return { tasks: kept, next: { ...state, left: state.left - 1 } };
      }
      const proposals = shuffled(tasks, ctx.random.split("proposals")).slice(0, tries);
      const passed: Task[] = [];
      for (let at = 0; at < proposals.length && passed.length < wanted; at += wanted) {
        const some = proposals.slice(at, at + wanted);
        const useful = await Promise.all(some.map((task) => passes(ctx, task, options)));
        passed.push(...some.filter((_, i) => useful[i]));
      }
      const chosen = (passed.length > 0 ? passed : proposals).slice(0, wanted);
      return {
        tasks: chosen,
        next: { passed: chosen.map(({ id }) => id), left: passed.length > 0 ? uses - 1 : 0 },
      };
    },
    observe: async (_ctx, _annotated, state) => state,
  };
}

/** Test episodes are numbered apart from those of training. */
const apart = 1_000_000;

async function passes(ctx: Ctx, { id }: Task, options: UsefulTasksOptions): Promise<boolean> {
  const returnsOf = async (model: string, from: number): Promise<number[]> => {
    const models = Object.fromEntries(ctx.roles.map((role) => [role, model]));
    const played = await Promise.all(
      Array.from({ length: options.episodes }, (_, i) =>
        ctx.play({ task: id, attempt: apart + from + i, models }),
      ),
    );
    return played
      .flat()
      .filter(({ end }) => end.kind !== "failed")
      .map(paid);
  };
  const agent = await returnsOf("policy", 0);
  const weak = await returnsOf(control, options.episodes);
  return agent.length > 0 && weak.length > 0 && isUseful(agent, weak, options);
}
