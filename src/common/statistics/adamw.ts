/** AdamW over typed arrays, shared by every engine that steps in this process. */

export type Floats = Float32Array | Float64Array;

export interface AdamwSettings {
  readonly learningRate: number;
  readonly beta1: number;
  readonly beta2: number;
  readonly epsilon: number;
  /** Decoupled, per unit of learning rate. */
  readonly weightDecay: number;
  /** Number of this step, from 1. */
  readonly step: number;
}

/** Defaults that every engine shares. */
export const adamwDefaults = { beta1: 0.9, beta2: 0.999, epsilon: 1e-8, weightDecay: 0 } as const;

/**
 * One AdamW step, in place on `weights`, `m` and `v`, all shape [N].
 *
 *     m ← β₁ m + (1 − β₁) g        v ← β₂ v + (1 − β₂) g²
 *     θ ← θ − rate · decay · θ − rate · (m / (1 − β₁ᵗ)) / (√(v / (1 − β₂ᵗ)) + ε)
 *
 * Paper: "Decoupled Weight Decay Regularization".
 */
export function adamwStep(
  weights: Floats,
  gradient: Floats,
  m: Floats,
  v: Floats,
  settings: AdamwSettings,
): void {
  const { learningRate, beta1, beta2, epsilon, weightDecay, step } = settings;
  const rate = learningRate / (1 - beta1 ** step);
  const scale = 1 / Math.sqrt(1 - beta2 ** step);
  const keep = 1 - learningRate * weightDecay;
  for (let n = 0; n < weights.length; n++) {
    const g = gradient[n]!;
    const m_n = beta1 * m[n]! + (1 - beta1) * g;
    const v_n = beta2 * v[n]! + (1 - beta2) * g * g;
    m[n] = m_n;
    v[n] = v_n;
    weights[n] = keep * weights[n]! - (rate * m_n) / (Math.sqrt(v_n) * scale + epsilon);
  }
}
