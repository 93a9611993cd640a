import { present } from "../core/errors.ts";
import { overTurns } from "../core/places.ts";
import type { Advantage } from "../core/slots.ts";
import type { Id } from "../core/words.ts";
import { onTop } from "./returns.ts";

/** Settings of {@link exponentialWeights}. */
export interface ExponentialWeightsOptions {
  /** Note that holds a number per turn. Default "advantage". */
  readonly note?: string;
  /** β ≥ 0, per unit of the note: 0 imitates everything alike, more leans to what was better. Default 4. */
  readonly beta?: number;
  /** Largest weight. Default 100. */
  readonly most?: number;
}

/**
 * Weights for imitation, one per turn, on each of its tokens:
 *
 *     w = min(exp(β A), most)        A: the note of the turn
 *
 * Likelihood weighted so has its optimum, where nothing is capped, at π(a | o) ∝ π_data(a | o) · exp(β A(o, a)): the
 * logits of an imitator moved by β A. Only members of units get weights. Stats: `weight`, their mean over turns, and
 * `capped`, the share at the cap.
 * Papers: "Advantage-Weighted Regression: Simple and Scalable Off-Policy Reinforcement Learning"; moved logits: "Offline
 * RL for Natural Language Generation with Implicit Language Q Learning".
 */
export function exponentialWeights(options: ExponentialWeightsOptions = {}): Advantage<null> {
  const { note = "advantage", beta = 4, most = 100 } = options;
  return {
    name: "exponentialWeights",
    init: () => null,
    apply: (evidence, _state, soFar) => {
      const byId = new Map(evidence.trajectories.map((t) => [t.id, t]));
      const noted = present(evidence.notes[note], "exponentialWeights", `note "${note}"`);
      const weights = new Map<Id, Float32Array>();
      let [sum, capped, turns] = [0, 0, 0];
      for (const id of evidence.units.flatMap((unit) => unit.members)) {
        const [t, advantage] = [byId.get(id), noted.get(id)];
        if (!t || !advantage) continue;
        const perTurn = advantage.map((a) => Math.min(Math.exp(beta * a), most));
        weights.set(id, overTurns(t, perTurn));
        turns += perTurn.length;
        for (const w of perTurn) {
          sum += w;
          if (w === most) capped++;
        }
      }
      const stats = turns === 0 ? {} : { weight: sum / turns, capped: capped / turns };
      return { advantages: onTop(weights, soFar), next: null, stats };
    },
  };
}
