import { mean } from "../../../common/statistics/statistics.ts";
import type { Ctx } from "../../../core/context.ts";
import type { Json } from "../../../core/json.ts";
import type { Rollout } from "../../../core/slots.ts";
import type { Id, Task, Trajectory } from "../../../core/types.ts";
import {
  type Acted,
  actedIn,
  bootstrapped,
  goalOf,
  type Judged,
  type JudgedRow,
  learntFrom,
} from "./rewardModel.ts";

/** Name of the helper that judges steps and tasks. */
export const rewardModel = "reward";

/** Settings of {@link guidedSearch}. */
export interface GuidedSearchOptions {
  /** B, episodes that go on after each step. */
  readonly beam: number;
  /** n_a, actions sampled for each of them. */
  readonly actions: number;
  /** Most turns of an episode. The environment may end it earlier. */
  readonly turns: number;
  /** Mean step score that an accepted episode has at least. */
  readonly floor: number;
  /** Whether the reward model learns from what was explored, or stays as the demonstrations made it. */
  readonly cotrained: boolean;
  /** Default 1. */
  readonly temperature?: number;
  /** Tasks that the environment's expert shows; the others are explored. */
  readonly isShown?: (task: Task) => boolean;
}

/** An episode on the way, and the scores of its steps. */
export interface Partial {
  readonly t: Trajectory;
  readonly scores: readonly number[];
}

/** The `count` episodes with the highest mean step score, of equals the first: a mean, so that short and long ones compare. */
export const bestOf = (all: readonly Partial[], count: number): Partial[] =>
  all.toSorted((a, b) => mean(b.scores) - mean(a.scores)).slice(0, count);

/**
 * Demonstrations of the tasks that are shown, and a search on the others that a reward model guides and judges:
 *
 *     from each of B episodes n_a actions of the policy, distinct;   p_step of each;   the B with the highest mean p_step go on
 *     accepted: of those that ended, the best, if p_task > ½ and its mean p_step ≥ floor
 *
 * Every candidate is an episode that replays its beginning, so that the environment must be able to replay; its steps count. The reward model is
 * fitted first to the demonstrations ({@link bootstrapped}), and with `cotrained` before each further iteration to these and to all that was accepted
 * ({@link learntFrom}). Units: demonstrations and accepted episodes, for imitation. Stats: `accepted`, share of the explored tasks; `precision`, share of
 * the accepted that the environment calls a success, which the method does not see.
 * Paper: "UI-Genie: A Self-Improving Approach for Iteratively Boosting MLLM-based Mobile GUI Agents".
 */
export function guidedSearch(options: GuidedSearchOptions): Rollout {
  const { isShown = ({ metadata }) => metadata.demonstrated === true, floor, cotrained } = options;
  return async (ctx) => {
    const reward = ctx.helper<Judged, number, number>(rewardModel);
    const shownTasks = ctx.tasks.filter(isShown);
    const played = shownTasks.map(({ id }) => ctx.play({ task: id, attempt: 0, player: "expert" }));
    const shown = (await Promise.all(played)).flat().filter(isWhole);
    const rows = (ctx.memory.get("judged") ?? []) as unknown as readonly JudgedRow[];
    const demonstrated = bootstrapped(
      shown.map((t) => ({ goal: goalOf(ctx.task(t.task)), acted: actedIn(t) })),
    );
    if (ctx.clock.iteration === 0 || cotrained) await reward.fit([...demonstrated, ...rows]);
    const explored = await Promise.all(
      ctx.tasks
        .filter((task) => !isShown(task))
        .map(async (task) => {
          const found = await searched(ctx, task, options);
          if (!found) return undefined;
          const [goal, acted] = [goalOf(task), actedIn(found.t)];
          const [done] = await reward.predict([{ mode: "task", goal, acted }]);
          const accepted = done! > 0.5 && mean(found.scores) >= floor;
          return { ...found, accepted, rows: accepted ? learntFrom(goal, acted, found.tried) : [] };
        }),
    );
    const ended = explored.filter((one) => one !== undefined);
    ctx.memory.set("judged", [...rows, ...ended.flatMap((one) => one.rows)] as unknown as Json);
    const kept = ended.filter(({ accepted }) => accepted).map(({ t }) => t);
    const right = kept.map(({ end }) => Number(end.kind === "done" && end.success === true));
    return {
      trajectories: [...shown, ...ended.map(({ t }) => t)],
      units: [...shown, ...kept].map(({ id, task }) => ({ id, group: task, members: [id] })),
      stats: {
        ...(explored.length > 0 && { accepted: kept.length / explored.length }),
        ...(kept.length > 0 && { precision: mean(right) }),
      },
    };
  };
}

const isWhole = ({ end, turns }: Trajectory): boolean => end.kind !== "failed" && turns.length > 0;

const isOpen = ({ t }: Partial): boolean => t.end.kind === "truncated";

/** The ended episode with the highest mean step score; undefined where none ends. */
async function searched(
  ctx: Ctx,
  task: Task,
  { beam, actions, turns, temperature }: GuidedSearchOptions,
): Promise<(Partial & { readonly tried: readonly (readonly Acted[])[] }) | undefined> {
  const tried: (readonly Acted[])[] = [];
  const reward = ctx.helper<Judged, number, number>(rewardModel);
  let attempt = 0;
  const next = async (from: Partial | undefined): Promise<readonly Partial[]> => {
    const turn = from?.t.turns.length ?? 0;
    const plays = Array.from({ length: actions }, () =>
      ctx.play({
        ...{ task: task.id, attempt: attempt++, limits: { turns: turn + 1 } },
        ...(from && { from: { trajectory: from.t, turn, why: "branch" as const } }),
        ...(temperature !== undefined && { temperature }),
      }),
    );
    const distinct = new Map<Id, Trajectory>();
    for (const t of (await Promise.all(plays)).flat().filter(isWhole)) {
      const said = t.turns[turn]?.action.content.trim();
      if (said !== undefined && !distinct.has(said)) distinct.set(said, t);
    }
    const made = [...distinct.values()];
    const steps = made.map((t): Judged => ({ mode: "step", goal: goalOf(task), acted: actedIn(t) }));
    tried.push(...steps.map(({ acted }) => acted));
    const p = await reward.predict(steps);
    return made.map((t, i) => ({ t, scores: [...(from?.scores ?? []), p[i]!] }));
  };
  let live = bestOf(await next(undefined), beam);
  for (let turn = 1; turn < turns && live.some(isOpen); turn++) {
    const grown = await Promise.all(live.map(async (one) => (isOpen(one) ? next(one) : [one])));
    live = bestOf(grown.flat(), beam);
  }
  const found = live.find(({ t }) => t.end.kind === "done");
  return found && { ...found, tried };
}
