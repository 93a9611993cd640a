import { mapById } from "../common/mapById.ts";
import { mean } from "../common/statistics/statistics.ts";
import { overTurns } from "../common/tokens/tokenRanges.ts";
import { present } from "../core/errors.ts";
import type { Advantage } from "../core/slots.ts";
import type { Id } from "../core/types.ts";
import { onTop } from "./returns.ts";

/** Settings of {@link exponentialWeights}. */
export interface ExponentialWeightsOptions {
  /** Note that holds a number per turn. Default "advantage". */
  readonly note?: string;
  /** Inverse temperature β ≥ 0, per unit of the note: 0 imitates all turns equally, larger values prefer better turns. Default 4. */
  readonly beta?: number;
  /** Additional per-turn notes with the share e of each: log-ratios of policies that the imitator should stay near. Default: none. */
  readonly tilts?: Readonly<Record<string, number>>;
  /** "group" divides by the mean weight of the turn's group, so that all states count equally. Default "none". */
  readonly scale?: "none" | "group";
  /** Largest weight. Default 100. */
  readonly most?: number;
}

/**
 * Weights for imitation, one per turn, on each of its tokens:
 *
 *     w = min(exp(β A + Σ_i e_i tilt_i) / Z, most)        A, tilt: notes of the turn; Z: 1, or the group's mean
 *
 * Without capping, the weighted likelihood has its optimum at π(a | o) ∝ π_data(a | o) · exp(β A(o, a)): the logits of an
 * imitator, shifted by β A. With tilts ln(π_i/π_data) whose shares add up to 1, π_data cancels, and the optimum is
 * Π_i π_i^e_i · exp(β A), which stays near the policies π_i. Z does not change the optimum of a table, but keeps states with
 * large weights from dominating a small network. Only members of units get weights; a turn with a NaN note has weight 0.
 * Stats: `weight`, their mean over turns, and `capped`, the share at the cap.
 * Papers: "Advantage-Weighted Regression: Simple and Scalable Off-Policy Reinforcement Learning"; moved logits: "Offline
 * RL for Natural Language Generation with Implicit Language Q Learning"; tilts: "Two-Stage Constrained Actor-Critic for
 * Short Video Recommendation".
 */
export function exponentialWeights(options: ExponentialWeightsOptions = {}): Advantage<null> {
  const { note = "advantage", beta = 4, tilts = {}, scale = "none", most = 100 } = options;
  return {
    name: "exponentialWeights",
    init: () => null,
    apply: ({ trajectories, units, notes }, _state, soFar) => {
      const byId = mapById(trajectories);
      const terms = Object.entries({ ...tilts, [note]: beta }).map(([name, share]) => ({
        noted: present(notes[name], "exponentialWeights", `note "${name}"`),
        share,
      }));
      const exponents = units.flatMap(({ group, members }) =>
        members.flatMap((id) => {
          const t = byId.get(id);
          const own = terms.flatMap(({ noted, share }) => {
            const said = noted.get(id);
            return said ? [Array.from(said, (x) => share * x)] : [];
          });
          if (!t || own.length < terms.length) return [];
          return [{ t, group, own: own.reduce((sum, of) => sum.map((x, k) => x + of[k]!)) }];
        }),
      );
      const middle = scale === "group" ? logMeans(exponents) : new Map<Id, number>();
      const weights = new Map<Id, Float32Array>();
      const all: number[] = [];
      for (const { t, group, own } of exponents) {
        const perTurn = own.map((x) =>
          Number.isNaN(x) ? 0 : Math.min(Math.exp(x - (middle.get(group) ?? 0)), most),
        );
        weights.set(t.id, overTurns(t, perTurn));
        all.push(...perTurn);
      }
      const stats =
        all.length === 0
          ? {}
          : { weight: mean(all), capped: all.filter((w) => w === most).length / all.length };
      return { advantages: onTop(weights, soFar), next: null, stats };
    },
  };
}

/** ln of the mean of e^x over all turns of each group, without overflow. */
function logMeans(
  exponents: readonly { readonly group: Id; readonly own: readonly number[] }[],
): Map<Id, number> {
  const groups = Map.groupBy(exponents, ({ group }) => group);
  return new Map(
    [...groups].map(([group, members]) => {
      const xs = members.flatMap(({ own }) => own.filter((x) => !Number.isNaN(x)));
      const top = xs.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
      return [group, top + Math.log(mean(xs.map((x) => Math.exp(x - top))))];
    }),
  );
}
