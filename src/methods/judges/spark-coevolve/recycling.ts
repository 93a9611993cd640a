import type { Ctx } from "../../../core/context.ts";
import type { Able } from "../../../core/evaluator.ts";
import type { Experience, Rollout } from "../../../core/slots.ts";
import type { Trajectory } from "../../../core/types.ts";
import { selfCritique } from "../../../evaluator/selfCritique.ts";
import { verdictCritique } from "../../../evaluator/verdictCritique.ts";
import { attemptAndCritique } from "../../../rollout/retryWithFeedback.ts";
import { verdictsOn } from "../../../rollout/verdictsOn.ts";
import { type RecycledItem, type RecycledItemsOptions, recycledItems } from "./recycledItems.ts";

/** Between the two answers, and after them. */
export const pairWords = { other: "another answer :", question: "Which is better, A or B ?" } as const;
/** What a wrong attempt is called. */
const refuted = { text: "WRONG" } as const;

/** Settings of {@link recycling}. */
export interface RecyclingOptions extends RecycledItemsOptions {
  readonly groupSize: number;
  readonly temperature: number;
  /** Kinds of prompts that are made. */
  readonly kinds: readonly RecycledItem["kind"][];
}

/**
 * Extends a rollout by prompts that its own attempts are recycled into, `groupSize` replies each, for the same policy in the same iteration.
 *
 *     judge one answer, or choose the better of two:   r = 1[verdict = what the environment said]
 *     repair a wrong attempt:                          r = reward of the environment
 *
 * Each prompt is a group of its own. Nothing but this iteration's attempts is recycled, so that the judge follows the policy.
 *
 * Stats: those of `verdictsOn`; repaired, the share of repairs that succeed.
 * Paper: "SPARK: Synergistic Policy And Reward Co-Evolving Framework".
 */
export function recycling(rollout: Rollout, options: RecyclingOptions): Rollout {
  const { groupSize, temperature, kinds } = options;
  return async (ctx) => {
    const first = await rollout(ctx);
    const byId = new Map(first.trajectories.map((t) => [t.id, t]));
    const groups = [...Map.groupBy(first.units, ({ group }) => group).values()].map((units) =>
      units.flatMap(({ members }) => members.flatMap((id) => byId.get(id) ?? [])),
    );
    const items = recycledItems(groups, options, ctx.random.split("recycled")).filter(({ kind }) =>
      kinds.includes(kind),
    );
    const singles = items.flatMap((item) => (item.kind === "single" ? [item.about] : []));
    const writer = verdictCritique({ model: "policy", temperature });
    const made = await Promise.all([
      verdictsOn(ctx, singles, { writer, groupSize, temperature }),
      ...items.flatMap((item) =>
        item.kind === "pair"
          ? [
              verdictsOn(ctx, [item.about], {
                writer: choosing(item.other, temperature),
                groupSize,
                temperature,
              }),
            ]
          : item.kind === "repair"
            ? [repairs(ctx, item.about, item.whole, first.trajectories.length, options)]
            : [],
      ),
    ]);
    const all = [first, ...made];
    return {
      trajectories: all.flatMap(({ trajectories }) => trajectories),
      units: all.flatMap(({ units }) => units),
      stats: { ...first.stats, ...meansOf(made) },
    };
  };
}

/** A for the attempt that is judged, B for the other one. */
function choosing(other: Trajectory, temperature: number): Able<"critique"> {
  const shown = other.turns.at(-1)?.action.content ?? "";
  return selfCritique({
    model: "policy",
    temperature,
    maxTokens: 64,
    question: `${pairWords.other}\n${shown}\n${pairWords.question}`,
    read: (text) => {
      const said = new Set(text.match(/\b[AB]\b/g));
      return said.size !== 1 ? { text } : { text, outcome: said.has("A") ? "success" : "failure" };
    },
  });
}

/** Attempts at the task that begin with a wrong one. @param from number that no attempt of the rollout has. */
async function repairs(
  ctx: Ctx,
  about: Trajectory,
  whole: boolean,
  from: number,
  { groupSize, temperature }: RecyclingOptions,
): Promise<Experience> {
  const shown = whole ? about : { ...about, turns: about.turns.slice(-1) };
  const advice = attemptAndCritique(refuted, shown);
  const plays = Array.from({ length: groupSize }, (_, k) =>
    ctx.play({ task: about.task, attempt: from + k, advice, temperature, together: groupSize }),
  );
  const trajectories = (await Promise.all(plays)).flat();
  const group = `${about.id}/repair`;
  const played = trajectories.filter(
    (t) => t.role === about.role && t.end.kind !== "failed" && t.turns.length > 0,
  );
  const units = played.map(({ id }) => ({ id, group, members: [id] }));
  const right = played.filter(({ end }) => end.kind === "done" && end.success === true).length;
  return { trajectories, units, stats: played.length > 0 ? { repaired: right / played.length } : {} };
}

/** Mean of each number over those that have it. */
function meansOf(made: readonly Experience[]): Record<string, number> {
  const all = made.flatMap(({ stats }) => Object.entries(stats ?? {}));
  return Object.fromEntries(
    [...Map.groupBy(all, ([name]) => name)].map(([name, values]) => [
      name,
      values.reduce((sum, [, value]) => sum + value / values.length, 0),
    ]),
  );
}
