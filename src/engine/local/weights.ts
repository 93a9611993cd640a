/** The state of one model in the engine thread, and the arithmetic on it. */
import { adamwDefaults, adamwStep } from "../../common/statistics/adamw.ts";
import type { StepRule, StepStats } from "../../core/model.ts";
import { type Architecture, laidOut, trainedParameters, type Weights } from "./parameters.ts";

export interface ModelState {
  /** As `laidOut` returns them. Frozen arrays may be shared with other models. */
  weights: Weights;
  /** Names of the weights that steps change. */
  readonly trained: ReadonlySet<string>;
  /** AdamW's first and second moments; allocated at the first step. */
  first?: Weights;
  second?: Weights;
  /** Number of AdamW steps, for its bias correction. */
  steps: number;
  /** Counts weight changes. Every sample records it, to tell which weights it came from. */
  version: number;
  readonly gradients: Map<string, Weights>;
}

/** The gradient buffer that `step` uses. */
export const mainGradient = "main";

export const trainedNames = (a: Architecture): ReadonlySet<string> =>
  new Set(trainedParameters(a).map((p) => p.name));

/** Zeros for every trained weight, in the same layout. */
export const gradientBuffer = (a: Architecture, { weights, trained }: ModelState): Weights =>
  laidOut(a.config, new Map([...trained].map((name) => [name, new Float32Array(weights.get(name)!.length)])));

const zerosLike = ({ weights, trained }: ModelState): Weights =>
  new Map([...trained].map((name) => [name, new Float32Array(weights.get(name)!.length)]));

/** Copies the trained weights; the others stay shared. */
export const copyOf = (a: Architecture, { weights, trained }: ModelState): Weights => {
  const copied = [...trained].map((name) => [name, weights.get(name)!.slice()] as const);
  return new Map([...weights, ...laidOut(a.config, new Map(copied))]);
};

/** to ← to + scale · from. */
export function addInto(to: Weights, from: ReadonlyMap<string, Float32Array>, scale = 1): void {
  for (const [name, x] of from) {
    const y = to.get(name)!;
    for (let i = 0; i < x.length; i++) y[i] = y[i]! + scale * x[i]!;
  }
}

export function dot(a: Weights, b: Weights): number {
  let sum = 0;
  for (const [name, x] of a) {
    const y = b.get(name)!;
    for (let i = 0; i < x.length; i++) sum += x[i]! * y[i]!;
  }
  return sum;
}

/** θ ← (1 − rate) θ + rate θ′, over the trained weights. */
export function blend({ weights, trained }: ModelState, toward: Weights, rate: number): void {
  for (const name of trained) {
    const x = weights.get(name)!;
    const y = toward.get(name)!;
    for (let i = 0; i < x.length; i++) x[i] = (1 - rate) * x[i]! + rate * y[i]!;
  }
}

/** AdamW's moments, prepared for one more step. */
function momentsOf(state: ModelState): { readonly first: Weights; readonly second: Weights } {
  state.steps++;
  const first = (state.first ??= zerosLike(state));
  const second = (state.second ??= zerosLike(state));
  return { first, second };
}

/**
 * The rates of one parameter. Weight decay skips norms, biases and embeddings, because rare words would fade. A group applies to
 * parameters whose name contains the group's name.
 */
export function ruleFor(name: string, rule: Omit<StepRule, "pull">) {
  const group = Object.entries(rule.groups ?? {}).find(([part]) => name.includes(part))?.[1];
  return {
    learningRate: group?.learningRate ?? rule.learningRate,
    weightDecay: /norm|embed_tokens|\.bias$/.test(name) ? 0 : (rule.weightDecay ?? 0),
  };
}

/**
 * One step from the main gradient buffer; clears all buffers. Norm clipping scales the whole gradient. See
 * {@link ruleFor} for the rates. A gradient that is not finite changes nothing.
 */
export function optimiserStep(
  state: ModelState,
  rule: Omit<StepRule, "pull">,
  pull?: { toward: Weights; strength: number },
): StepStats {
  const gradient = state.gradients.get(mainGradient);
  state.gradients.clear();
  if (!gradient) return { gradientNorm: 0, skipped: 1 };
  const norm = Math.sqrt(dot(gradient, gradient));
  if (!Number.isFinite(norm)) return { gradientNorm: norm, skipped: 1 };
  const scale = rule.clip !== undefined && norm > rule.clip ? rule.clip / norm : 1;
  const adamw = rule.optimiser !== "sgd" ? momentsOf(state) : undefined;
  const [beta1, beta2] = rule.betas ?? [adamwDefaults.beta1, adamwDefaults.beta2];
  for (const [name, g] of gradient) {
    const weights = state.weights.get(name)!;
    if (scale !== 1) for (let i = 0; i < g.length; i++) g[i] = g[i]! * scale;
    const { learningRate, weightDecay } = ruleFor(name, rule);
    if (!adamw) {
      const keep = 1 - learningRate * weightDecay;
      for (let i = 0; i < g.length; i++) weights[i] = keep * weights[i]! - learningRate * g[i]!;
      continue;
    }
    adamwStep(weights, g, adamw.first.get(name)!, adamw.second.get(name)!, {
      learningRate,
      beta1,
      beta2,
      epsilon: rule.epsilon ?? adamwDefaults.epsilon,
      weightDecay,
      step: state.steps,
    });
  }
  if (pull) blend(state, pull.toward, rule.learningRate * pull.strength);
  state.version++;
  return { gradientNorm: norm, skipped: 0 };
}
