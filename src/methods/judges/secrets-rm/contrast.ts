/** Two views of the same difference of features should be alike, those of different pairs should not. */

/** Loss, and its derivatives by both views. */
export interface Contrast {
  readonly loss: number;
  readonly byFirst: readonly Float64Array[];
  readonly bySecond: readonly Float64Array[];
}

/**
 * InfoNCE:
 *
 *     L = −mean over i of ln( exp(cos(h_i, h′_i)/T) / Σ_j exp(cos(h_i, h′_j)/T) )
 *
 * Views of length 0 have cosine 0 to all others and no gradient.
 * @param first h, [B][H]. @param second h′, [B][H]. @param temperature T > 0.
 * Paper: "Secrets of RLHF in Large Language Models Part II: Reward Modeling", after "SimCSE".
 */
export function contrast(
  first: readonly Float64Array[],
  second: readonly Float64Array[],
  temperature = 0.05,
): Contrast {
  const [a, b] = [first.map(unit), second.map(unit)];
  const slopes = [first, second].map((views) => views.map(({ length }) => new Float64Array(length)));
  const [toA, toB] = slopes as [Float64Array[], Float64Array[]];
  let loss = 0;
  a.forEach((own, i) => {
    const odds = b.map((other) => dot(own.unit, other.unit) / temperature);
    const most = Math.max(...odds);
    const total = odds.reduce((sum, x) => sum + Math.exp(x - most), 0);
    loss -= (odds[i]! - most - Math.log(total)) / a.length;
    b.forEach((other, j) => {
      const slope = (Math.exp(odds[j]! - most) / total - Number(i === j)) / (temperature * a.length);
      for (let h = 0; h < own.unit.length; h++) {
        toA[i]![h]! += slope * other.unit[h]!;
        toB[j]![h]! += slope * own.unit[h]!;
      }
    });
  });
  return { loss, byFirst: through(a, toA), bySecond: through(b, toB) };
}

interface Unit {
  readonly unit: Float64Array;
  readonly length: number;
}

function unit(view: Float64Array): Unit {
  const length = Math.sqrt(dot(view, view));
  return { unit: length === 0 ? view : view.map((x) => x / length), length };
}

const dot = (a: Float64Array, b: Float64Array): number => a.reduce((sum, x, h) => sum + x * b[h]!, 0);

/** Derivatives by a vector from those by its unit vector: (g − (g·u) u) / |h|. */
const through = (units: readonly Unit[], slopes: readonly Float64Array[]): Float64Array[] =>
  slopes.map((g, i) => {
    const { unit: u, length } = units[i]!;
    const along = dot(g, u);
    return length === 0 ? g.map(() => 0) : g.map((x, h) => (x - along * u[h]!) / length);
  });
