import { logSigmoid, sigmoid } from "../../../common/statistics/logistic.ts";

/** The contrast's loss, and its derivatives by the three states. */
export interface GoalContrast {
  readonly loss: number;
  readonly byState: Float64Array;
  readonly byFuture: Float64Array;
  readonly byOther: Float64Array;
}

/**
 * A state of a preferred reply should resemble a later state of the same reply, and no state of the rejected one:
 *
 *     L_C = −ln σ(f(h_i⁺, h_j⁺)) − ln σ(−f(h_i⁺, h_l⁻))          f(u, v) = cos(u, v) / T,  j > i
 *
 * Paper: "Learning Goal-Conditioned Representations for Language Reward Models".
 */
export function goalContrast(
  state: Float64Array,
  future: Float64Array,
  other: Float64Array,
  temperature: number,
): GoalContrast {
  const [near, far] = [cosineSlopes(state, future), cosineSlopes(state, other)];
  const [f, g] = [near.cosine / temperature, far.cosine / temperature];
  const [slopeNear, slopeFar] = [(sigmoid(f) - 1) / temperature, sigmoid(g) / temperature];
  return {
    loss: -logSigmoid(f) - logSigmoid(-g),
    byState: near.byFirst.map((x, h) => slopeNear * x + slopeFar * far.byFirst[h]!),
    byFuture: near.bySecond.map((x) => slopeNear * x),
    byOther: far.bySecond.map((x) => slopeFar * x),
  };
}

/** cos(u, v); 0 where one of them is 0. */
export const cosine = (u: Float64Array, v: Float64Array): number => cosineSlopes(u, v).cosine;

function cosineSlopes(u: Float64Array, v: Float64Array) {
  let [uv, uu, vv] = [0, 0, 0];
  for (let h = 0; h < u.length; h++) {
    uv += u[h]! * v[h]!;
    uu += u[h]! ** 2;
    vv += v[h]! ** 2;
  }
  const length = Math.sqrt(uu * vv);
  const value = length === 0 ? 0 : uv / length;
  const by = (a: Float64Array, b: Float64Array, aa: number): Float64Array =>
    a.map((x, h) => (length === 0 ? 0 : b[h]! / length - (value * x) / aa));
  return { cosine: value, byFirst: by(u, v, uu), bySecond: by(v, u, vv) };
}
