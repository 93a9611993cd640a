/** Fits a reward network by preference strength, contrast and meta-learning. */
import type { Random } from "../../../core/random.ts";
import {
  type ActiveInputs,
  adamSteps,
  addScoreGradient,
  type InputPair,
  initialNetwork,
  type NetworkSizes,
  pairLoss,
  scoreInputs,
} from "../../../helper/rewardNetwork.ts";
import { contrast } from "./contrast.ts";
import { sharpness } from "./sharpness.ts";
import { crossFittedStrengths, type Treated, type TreatmentOptions, treatedLabels } from "./strength.ts";

/** Settings of {@link fitReward}. */
export interface FitOptions {
  /** Hidden units. Default 16. */
  readonly units?: number;
  /** Steps of Adam. Default 200. */
  readonly steps?: number;
  /** Pairs in a step. Default 32. */
  readonly batch?: number;
  /** Default 0.03. */
  readonly learningRate?: number;
  /** Decoupled, per unit of learning rate. Default 0.3. */
  readonly weightDecay?: number;
  /** β, weight of the contrastive loss. Default 0.1. */
  readonly contrast?: number;
  /** η, step of the ascent on unlabelled pairs before each gradient of the loss. Default 0.1. */
  readonly meta?: number;
}

/** Settings of {@link treatedFit}. */
export interface TreatedFitOptions extends FitOptions, TreatmentOptions {
  /** M, members of the ensemble by which pairs get their strength; 0 leaves labels as they are. Default 4. */
  readonly members?: number;
}

type Unlabelled = readonly (readonly [ActiveInputs, ActiveInputs])[];
/** Share of hidden units that a view leaves out. */
const dropout = 0.1;
const viewTemperature = 0.05;

/**
 * A reward network fitted to pairs, from random weights:
 *
 *     θ′ = θ + η ∇J(θ)                          J: sharpness on unlabelled pairs
 *     θ ← θ − Adam(∇ (L + β L_cl)(θ′))          the gradient at θ′ moves θ; L: `pairLoss`, L_cl: `contrast` of two dropout views
 */
export function fitReward(
  inputs: number,
  pairs: readonly InputPair[],
  unlabelled: Unlabelled,
  random: Random,
  options: FitOptions = {},
): Float64Array {
  const { steps = 200, batch = 32, learningRate = 0.03, weightDecay = 0.3, meta = 0.1 } = options;
  const sizes = sizesOf(inputs, options);
  const theta = initialNetwork(sizes, random.split("weights"));
  adamSteps(theta, { steps, learningRate, weightDecay }, (gradient, step) => {
    const own = random.split("step", step);
    const some = <T>(all: readonly T[]): readonly T[] =>
      all.length <= batch ? all : Array.from({ length: batch }, () => all[own.below(all.length)]!);
    const shown = some(pairs);
    const at = meta > 0 && unlabelled.length > 0 ? sharper(theta, sizes, some(unlabelled), meta) : theta;
    pairLoss(at, sizes, shown, gradient);
    addContrast(at, sizes, shown, gradient, own, options.contrast ?? 0.1);
  });
  return theta;
}

/** Sizes of a network with these settings. */
export const sizesOf = (inputs: number, { units = 16 }: FitOptions): NetworkSizes => ({ inputs, units });

function sharper(theta: Float64Array, sizes: NetworkSizes, pairs: Unlabelled, by: number): Float64Array {
  const gradient = new Float64Array(theta.length);
  sharpness(theta, sizes, pairs, gradient);
  return theta.map((x, i) => x + by * gradient[i]!);
}

/** Two views of h(better) − h(worse), each without some of the units. */
function addContrast(
  theta: Float64Array,
  sizes: NetworkSizes,
  pairs: readonly InputPair[],
  gradient: Float64Array,
  random: Random,
  weight: number,
): void {
  if (weight === 0 || pairs.length < 2) return;
  const scored = pairs.map(({ better, worse }) => [
    scoreInputs(theta, sizes, better),
    scoreInputs(theta, sizes, worse),
  ]);
  const masks = [0, 1].map(() =>
    pairs.map(() => Float64Array.from({ length: sizes.units }, () => Number(random.next() >= dropout))),
  );
  const views = masks.map((mask) =>
    mask.map((kept, i) => kept.map((k, h) => k * (scored[i]![0]!.hidden[h]! - scored[i]![1]!.hidden[h]!))),
  );
  const { byFirst, bySecond } = contrast(views[0]!, views[1]!, viewTemperature);
  pairs.forEach(({ better, worse }, i) => {
    const slope = byFirst[i]!.map(
      (g, h) => weight * (g * masks[0]![i]![h]! + bySecond[i]![h]! * masks[1]![i]![h]!),
    );
    addScoreGradient(theta, sizes, better, scored[i]![0]!, 0, gradient, slope);
    addScoreGradient(
      theta,
      sizes,
      worse,
      scored[i]![1]!,
      0,
      gradient,
      slope.map((g) => -g),
    );
  });
}

/** A fitted network, and what became of the labels. */
export interface TreatedFit {
  readonly theta: Float64Array;
  readonly treated: readonly Treated[];
}

/** Gives each pair its strength by plain networks, treats the labels by it, and fits a network to them. */
export function treatedFit(
  inputs: number,
  pairs: readonly InputPair[],
  unlabelled: Unlabelled,
  random: Random,
  options: TreatedFitOptions = {},
): TreatedFit {
  const { members = 4 } = options;
  const sizes = sizesOf(inputs, options);
  const plain = { ...options, contrast: 0, meta: 0 };
  const strengths =
    members === 0
      ? []
      : crossFittedStrengths(pairs.length, members, random.split("ensemble"), (some, own) => {
          const theta = fitReward(
            inputs,
            some.map((i) => pairs[i]!),
            [],
            own,
            plain,
          );
          return (i) => marginOf(theta, sizes, pairs[i]!);
        });
  const treated = treatedLabels(strengths, options);
  const changed = pairs.map((pair, i) => {
    const to = treated[i];
    if (!to) return pair;
    const { flipped, margin } = to;
    const doubt = Math.max(pair.doubt ?? 0, to.doubt);
    return flipped ? { better: pair.worse, worse: pair.better, doubt, margin } : { ...pair, doubt, margin };
  });
  return { theta: fitReward(inputs, changed, unlabelled, random.split("final"), options), treated };
}

/** r(better) − r(worse). */
export const marginOf = (theta: Float64Array, sizes: NetworkSizes, { better, worse }: InputPair): number =>
  scoreInputs(theta, sizes, better).reward - scoreInputs(theta, sizes, worse).reward;
