/** A reward network with one hidden layer over binary inputs, in float64: the same on every machine, with its gradient. */
import { adamwDefaults, adamwStep } from "../common/statistics/adamw.ts";
import { logSigmoid, sigmoid } from "../common/statistics/logistic.ts";
import type { Random } from "../core/random.ts";

/** D inputs, H hidden units. */
export interface NetworkSizes {
  readonly inputs: number;
  readonly units: number;
}

/** The inputs that are 1; all others are 0. */
export type ActiveInputs = readonly number[];

/** W [D, H], one row for each input, then b [H] and w [H]. */
export const networkLength = ({ inputs, units }: NetworkSizes): number => (inputs + 2) * units;

/** W normal with this deviation, b = 0, w normal with deviation 1/√H. */
export function initialNetwork(sizes: NetworkSizes, random: Random, deviation = 0.5): Float64Array {
  const { inputs, units } = sizes;
  const theta = new Float64Array(networkLength(sizes));
  for (let i = 0; i < inputs * units; i++) theta[i] = deviation * random.normal();
  for (let h = 0; h < units; h++) theta[(inputs + 1) * units + h] = random.normal() / Math.sqrt(units);
  return theta;
}

/** The state of one forward pass: the reward, and the hidden layer h [H] that it was read from. */
export interface Scored {
  readonly reward: number;
  readonly hidden: Float64Array;
}

/**     h = tanh(Σ_{i active} W_i + b)          r = w · h */
export function scoreInputs(
  theta: Float64Array,
  { inputs, units }: NetworkSizes,
  active: ActiveInputs,
): Scored {
  const hidden = theta.slice(inputs * units, (inputs + 1) * units);
  for (const i of active) for (let h = 0; h < units; h++) hidden[h]! += theta[i * units + h]!;
  let reward = 0;
  for (let h = 0; h < units; h++) {
    hidden[h] = Math.tanh(hidden[h]!);
    reward += theta[(inputs + 1) * units + h]! * hidden[h]!;
  }
  return { reward, hidden };
}

/**
 * Adds to `gradient` the gradient of a loss whose slopes in the reward and, where given, in the hidden layer are known.
 * @param byHidden ∂loss/∂h [H], apart from what goes through the reward.
 */
export function addScoreGradient(
  theta: Float64Array,
  { inputs, units }: NetworkSizes,
  active: ActiveInputs,
  { hidden }: Scored,
  byReward: number,
  gradient: Float64Array,
  byHidden?: ArrayLike<number>,
): void {
  const read = (inputs + 1) * units;
  for (let h = 0; h < units; h++) {
    const value = hidden[h]!;
    gradient[read + h]! += byReward * value;
    const slope = (byReward * theta[read + h]! + (byHidden?.[h] ?? 0)) * (1 - value * value);
    gradient[inputs * units + h]! += slope;
    for (const i of active) gradient[i * units + h]! += slope;
  }
}

/** A pair for {@link pairLoss}: the inputs of the preferred and of the other reply. */
export interface InputPair {
  readonly better: ActiveInputs;
  readonly worse: ActiveInputs;
  /** a in [0, 1]: probability that the label is wrong. Default 0. */
  readonly doubt?: number;
  /** μ: by how much the rewards should differ at least. Default 0. */
  readonly margin?: number;
}

/**
 * Mean over pairs of the Bradley–Terry loss with a soft label and a margin; adds its gradient, times `scale`, to `gradient`.
 *
 *     −(1 − a) ln σ(Δ − μ) − a ln σ(−(Δ − μ))          Δ = r(better) − r(worse)
 */
export function pairLoss(
  theta: Float64Array,
  sizes: NetworkSizes,
  pairs: readonly InputPair[],
  gradient: Float64Array,
  scale = 1,
): number {
  let loss = 0;
  for (const { better, worse, doubt = 0, margin = 0 } of pairs) {
    const [b, w] = [scoreInputs(theta, sizes, better), scoreInputs(theta, sizes, worse)];
    const by = b.reward - w.reward - margin;
    loss -= ((1 - doubt) * logSigmoid(by) + doubt * logSigmoid(-by)) / pairs.length;
    const slope = (scale * (sigmoid(by) - (1 - doubt))) / pairs.length;
    addScoreGradient(theta, sizes, better, b, slope, gradient);
    addScoreGradient(theta, sizes, worse, w, -slope, gradient);
  }
  return loss;
}

/** Settings of {@link adamSteps}. */
export interface AdamStepsOptions {
  readonly steps: number;
  /** Falls linearly to 0. */
  readonly learningRate: number;
  /** Decoupled. Default 0. */
  readonly weightDecay?: number;
}

/** Steps of Adam on θ, in place. @param addGradient adds the gradient at θ for this step, from 1, to a vector of zeros. */
export function adamSteps(
  theta: Float64Array,
  { steps, learningRate, weightDecay = 0 }: AdamStepsOptions,
  addGradient: (gradient: Float64Array, step: number) => void,
): void {
  const [m, v] = [new Float64Array(theta.length), new Float64Array(theta.length)];
  for (let step = 1; step <= steps; step++) {
    const gradient = new Float64Array(theta.length);
    addGradient(gradient, step);
    const rate = learningRate * (1 - (step - 1) / steps);
    adamwStep(theta, gradient, m, v, { ...adamwDefaults, learningRate: rate, weightDecay, step });
  }
}
