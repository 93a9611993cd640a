/** A recurrent reward network over tokens, in float64, with its gradient: its states see nothing of what comes later. */
import type { Random } from "../../../core/random.ts";

/** D different tokens, H hidden units. */
export interface RecurrentSizes {
  readonly inputs: number;
  readonly units: number;
}

/** W [D, H], U [H, H], b [H] and w [H], in this order. */
export const recurrentLength = ({ inputs, units }: RecurrentSizes): number => (inputs + units + 2) * units;

/** W normal with deviation ½, U and w normal with deviation 1/√H, b = 0. */
export function initialRecurrent(sizes: RecurrentSizes, random: Random): Float64Array {
  const { inputs, units } = sizes;
  const theta = new Float64Array(recurrentLength(sizes));
  const [u, b, w] = [inputs * units, (inputs + units) * units, (inputs + units + 1) * units];
  for (let i = 0; i < u; i++) theta[i] = 0.5 * random.normal();
  for (let i = u; i < b; i++) theta[i] = random.normal() / Math.sqrt(units);
  for (let i = w; i < theta.length; i++) theta[i] = random.normal() / Math.sqrt(units);
  return theta;
}

/**
 *     h_t = tanh(W[x_t] + U h_{t−1} + b),   h_0 = 0
 *
 * @returns the state after each token, [T][H].
 */
export function statesOf(
  theta: Float64Array,
  { inputs, units }: RecurrentSizes,
  tokens: readonly number[],
): Float64Array[] {
  const [u, b] = [inputs * units, (inputs + units) * units];
  let before = new Float64Array(units);
  return tokens.map((token) => {
    const state = new Float64Array(units);
    for (let h = 0; h < units; h++) {
      let sum = theta[token * units + h]! + theta[b + h]!;
      for (let k = 0; k < units; k++) sum += theta[u + k * units + h]! * before[k]!;
      state[h] = Math.tanh(sum);
    }
    before = state;
    return state;
  });
}

/** r = w · h, of any state: the reward of the text so far. */
export function rewardAt(
  theta: Float64Array,
  { inputs, units }: RecurrentSizes,
  state: Float64Array,
): number {
  const w = (inputs + units + 1) * units;
  return state.reduce((sum, x, h) => sum + theta[w + h]! * x, 0);
}

/** Adds the gradient of rewardAt, times `slope`, by w to `gradient`, and by the state to `byState`. */
export function addRewardSlope(
  theta: Float64Array,
  { inputs, units }: RecurrentSizes,
  state: Float64Array,
  slope: number,
  gradient: Float64Array,
  byState: Float64Array,
): void {
  const w = (inputs + units + 1) * units;
  for (let h = 0; h < units; h++) {
    gradient[w + h]! += slope * state[h]!;
    byState[h]! += slope * theta[w + h]!;
  }
}

/**
 * Adds to `gradient` the gradient of a loss whose derivatives by the states are known, through time.
 * @param byStates ∂loss/∂h_t apart from what goes through later states, [T][H].
 */
export function addStateGradient(
  theta: Float64Array,
  { inputs, units }: RecurrentSizes,
  tokens: readonly number[],
  states: readonly Float64Array[],
  byStates: readonly Float64Array[],
  gradient: Float64Array,
): void {
  const [u, b] = [inputs * units, (inputs + units) * units];
  let later = new Float64Array(units);
  for (let t = tokens.length - 1; t >= 0; t--) {
    const [state, before, token] = [states[t]!, states[t - 1], tokens[t]!];
    const earlier = new Float64Array(units);
    for (let h = 0; h < units; h++) {
      const slope = (byStates[t]![h]! + later[h]!) * (1 - state[h]! * state[h]!);
      if (slope === 0) continue;
      gradient[token * units + h]! += slope;
      gradient[b + h]! += slope;
      if (!before) continue;
      for (let k = 0; k < units; k++) {
        gradient[u + k * units + h]! += slope * before[k]!;
        earlier[k]! += slope * theta[u + k * units + h]!;
      }
    }
    later = earlier;
  }
}
