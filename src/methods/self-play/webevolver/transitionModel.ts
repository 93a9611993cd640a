import { z } from "zod";
import type { StatefulHelper } from "../../../core/context.ts";
import type { Trajectory } from "../../../core/types.ts";
import { savedState } from "../../../helper/savedState.ts";

/** An action in a state; both are texts, the state that of the last observation. */
export interface Acted {
  readonly state: string;
  readonly action: string;
}

/**
 * A world model that has counted transitions: what was observed most often after an action in a state, of equals what came first. Undefined for an
 * action that was never seen there: it makes nothing up. A fit adds to what is known.
 * Paper: "WebEvolver: Enhancing Web Agent Self-Improvement with Coevolving World Model".
 */
export function transitionModel(): StatefulHelper<Acted, string, string | undefined> {
  let counts: Record<string, Record<string, number>> = {};
  const keyOf = ({ state, action }: Acted): string => JSON.stringify([state, action]);
  return {
    fit: async (rows) => {
      for (const { x, y, weight } of rows) {
        const seen = (counts[keyOf(x)] ??= {});
        seen[y] = (seen[y] ?? 0) + weight;
      }
      return { transitions: Object.keys(counts).length };
    },
    predict: async (xs) =>
      xs.map((x) => {
        const seen = Object.entries(counts[keyOf(x)] ?? {});
        const most = Math.max(...seen.map(([, n]) => n));
        return seen.find(([, n]) => n === most)?.[0];
      }),
    save: () => counts,
    load: (state) => {
      counts = savedState(known, state, {
        where: "transitionModel",
        expected: "counts of observations by transition",
      });
    },
  };
}

const known = z.record(z.string(), z.record(z.string(), z.number()));

/** All transitions of these trajectories, failures included: a world model has to know dead ends. The last action of an episode has none. */
export const transitionsOf = (trajectories: readonly Trajectory[]) =>
  trajectories.flatMap(({ turns }) =>
    turns.slice(0, -1).map(({ prompt, action }, k) => ({
      x: { state: prompt.at(-1)?.content ?? "", action: action.content.trim() },
      y: turns[k + 1]!.prompt.at(-1)?.content ?? "",
      weight: 1,
    })),
  );
