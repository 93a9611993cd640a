/** Settings of any method, with defaults for small agents trained from scratch. */
import type { StepRule } from "../core/model.ts";
import type { Schedule } from "../update/minibatches.ts";
import { type Option, valuesOf } from "./options.ts";

/**
 * The settings that every method has in common. Ranges and defaults are in {@link settingRows}; a value outside its range
 * is `option.range`.
 */
export interface Settings {
  /** Training tasks per iteration. */
  readonly tasks: number;
  /** Attempts at each task. */
  readonly groupSize: number;
  /** Sampling temperature during training. */
  readonly temperature: number;
  /** Optimiser: AdamW, or plain gradient descent, for theory about the gradient itself. */
  readonly optimiser: StepRule["optimiser"] & string;
  /** AdamW step size. The default suits a small transformer; a table of logits needs about 0.1, LoRA about 1e-5. */
  readonly learningRate: number;
  /** Step size of a critic or reward model as a multiple of the policy's, in methods that have one. */
  readonly criticRate: number;
  readonly schedule: Schedule["shape"] & string;
  /** Warm-up: optimiser steps until the full step size. */
  readonly warmUp: number;
  /** Passes over each batch. */
  readonly epochs: number;
  /** Optimiser steps per pass. */
  readonly minibatches: number;
  /** Clip range of the probability ratio, below and above 1. */
  readonly clipLow: number;
  readonly clipHigh: number;
  /** Added to AdamW's denominator. Gradients below it are noise, which a smaller value would amplify. */
  readonly epsilon: number;
  /** Largest global gradient norm. */
  readonly gradientClip: number;
  readonly weightDecay: number;
}

/** Largest accepted step size; a larger one is a typing error. Plain gradient ascent on tables takes up to 1e6, AdamW far less than 1. */
export const highestRate = 1e9;

/** Every setting with its help text and range; a missing or surplus row is a compile error. */
export const settingRows: { readonly [K in keyof Settings]-?: Option & { readonly default: Settings[K] } } = {
  tasks: { help: "training tasks per iteration", default: 16, low: 1, high: 1e6, whole: true },
  groupSize: { help: "attempts at each task", default: 8, low: 1, high: 1e5, whole: true },
  temperature: { help: "sampling temperature during training", default: 1, low: 0, high: 100 },
  optimiser: { help: "optimiser algorithm", default: "adamw", oneOf: ["adamw", "sgd"] },
  learningRate: { help: "step size", default: 5e-4, low: 0, high: highestRate },
  criticRate: {
    help: "step size of a critic or reward model, as a multiple of the policy's",
    default: 1,
    low: 0,
    high: highestRate,
  },
  schedule: {
    help: "shape of the step size over the run",
    default: "linear",
    oneOf: ["constant", "linear", "cosine"],
  },
  warmUp: { help: "optimiser steps until the full step size", default: 3, low: 0, high: 1e9, whole: true },
  epochs: { help: "passes over each batch", default: 1, low: 1, high: 1e4, whole: true },
  minibatches: { help: "optimiser steps per pass", default: 2, low: 1, high: 1e6, whole: true },
  clipLow: { help: "how far a probability ratio may fall below 1", default: 0.2, low: 0, high: 1 },
  clipHigh: { help: "how far a probability ratio may rise above 1", default: 0.2, low: 0, high: 1e6 },
  epsilon: { help: "added to AdamW's denominator", default: 1e-5, low: 0, high: 1e6 },
  gradientClip: { help: "largest gradient norm", default: 1, low: 0, high: 1e12 },
  weightDecay: { help: "decoupled weight decay", default: 0, low: 0, high: 1e4 },
};

/** Defaults of the settings, for small agents trained from scratch. A method may change some of them. */
export const defaultSettings = settingsOf({});

/** All settings: those given, and defaults. Every name must be known and every value within its range. */
export function settingsOf(given: Partial<Settings>): Settings {
  return valuesOf("method settings", settingRows, given) as unknown as Settings;
}
