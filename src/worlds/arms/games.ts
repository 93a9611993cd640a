/** Shared by measurements of self-play in games: exact exploitability of last and averaged policies over training. */
import type { Model } from "../../core/model.ts";
import { tabularEngine } from "../../engine/tabular/engine.ts";
import {
  averaged,
  exploitability,
  type GameEnvironment,
  type Strategy,
  strategyOf,
} from "../../env/index.ts";

/** Tabular policies that write nothing but words of moves, and at first all of them alike. */
export function moveTables(environment: GameEnvironment): ReturnType<typeof tabularEngine> {
  const words = new Set(
    environment.tree().sets.flatMap(({ legal }) => legal.flatMap((move) => move.split(" "))),
  );
  return tabularEngine({ prior: (_context, word) => (words.has(word) ? 0 : -1e9) });
}

/** Exploitability of the last policy, and of the average of all policies until then. */
export interface Followed {
  readonly iteration: number;
  readonly last: number;
  readonly average: number;
}

/** Follows a policy through training, in exact numbers. Call `look` after every iteration. */
export function exploitabilityCurve(environment: GameEnvironment) {
  const tree = environment.tree();
  const strategies: Strategy[] = [];
  const curve: Followed[] = [];
  return {
    async look(policy: Pick<Model, "codec" | "score">, measure = true): Promise<void> {
      const { strategy } = await strategyOf(tree, policy);
      strategies.push(strategy);
      if (!measure) return;
      const average = exploitability(tree, averaged(tree, strategies));
      curve.push({ iteration: strategies.length, last: exploitability(tree, strategy), average });
    },
    curve: curve as readonly Followed[],
  };
}
