/** Settings of any method, with defaults for small agents trained from scratch. */

import { unknownName } from "../common/text/suggest.ts";
import { WhetstoneError } from "../core/errors.ts";
import type { StepRule } from "../core/model.ts";
import type { Schedule } from "../update/minibatches.ts";

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

interface SettingRow<T> {
  readonly help: string;
  readonly fallback: T;
  readonly low?: number;
  readonly high?: number;
  readonly whole?: true;
  readonly oneOf?: readonly string[];
}

/** Largest accepted step size; a larger one is a typing error. Plain gradient ascent on tables takes up to 1e6, AdamW far less than 1. */
export const highestRate = 1e9;

/** Every setting with its help text and range; a missing or surplus row is a compile error. */
export const settingRows: { readonly [K in keyof Settings]-?: SettingRow<Settings[K]> } = {
  tasks: { help: "training tasks per iteration", fallback: 16, low: 1, high: 1e6, whole: true },
  groupSize: { help: "attempts at each task", fallback: 8, low: 1, high: 1e5, whole: true },
  temperature: { help: "sampling temperature during training", fallback: 1, low: 0, high: 100 },
  optimiser: { help: "optimiser algorithm", fallback: "adamw", oneOf: ["adamw", "sgd"] },
  learningRate: { help: "step size", fallback: 5e-4, low: 0, high: highestRate },
  criticRate: {
    help: "step size of a critic or reward model, as a multiple of the policy's",
    fallback: 1,
    low: 0,
    high: highestRate,
  },
  schedule: {
    help: "shape of the step size over the run",
    fallback: "linear",
    oneOf: ["constant", "linear", "cosine"],
  },
  warmUp: { help: "optimiser steps until the full step size", fallback: 3, low: 0, high: 1e9, whole: true },
  epochs: { help: "passes over each batch", fallback: 1, low: 1, high: 1e4, whole: true },
  minibatches: { help: "optimiser steps per pass", fallback: 2, low: 1, high: 1e6, whole: true },
  clipLow: { help: "how far a probability ratio may fall below 1", fallback: 0.2, low: 0, high: 1 },
  clipHigh: { help: "how far a probability ratio may rise above 1", fallback: 0.2, low: 0, high: 1e6 },
  epsilon: { help: "added to AdamW's denominator", fallback: 1e-5, low: 0, high: 1e6 },
  gradientClip: { help: "largest gradient norm", fallback: 1, low: 0, high: 1e12 },
  weightDecay: { help: "decoupled weight decay", fallback: 0, low: 0, high: 1e4 },
};

/** Defaults of the settings, for small agents trained from scratch. A method may change some of them. */
export const defaultSettings: Settings = {
  tasks: settingRows.tasks.fallback,
  groupSize: settingRows.groupSize.fallback,
  temperature: settingRows.temperature.fallback,
  optimiser: settingRows.optimiser.fallback,
  learningRate: settingRows.learningRate.fallback,
  criticRate: settingRows.criticRate.fallback,
  schedule: settingRows.schedule.fallback,
  warmUp: settingRows.warmUp.fallback,
  epochs: settingRows.epochs.fallback,
  minibatches: settingRows.minibatches.fallback,
  clipLow: settingRows.clipLow.fallback,
  clipHigh: settingRows.clipHigh.fallback,
  epsilon: settingRows.epsilon.fallback,
  gradientClip: settingRows.gradientClip.fallback,
  weightDecay: settingRows.weightDecay.fallback,
};

/** Validates settings: every name must be known and every value within its range. */
export function settingsOf(settings: Settings): Settings {
  const known = Object.entries(settingRows);
  for (const [name, value] of Object.entries(settings)) {
    const row: SettingRow<unknown> | undefined = known.find(([key]) => key === name)?.[1];
    if (!row) throw unknownName("method settings", name, Object.keys(settingRows));
    const expected = wrong(value, row);
    if (expected === undefined) continue;
    throw new WhetstoneError("option.range", {
      where: `method settings, ${name}`,
      got: String(value),
      expected,
      fix: `Set ${name} (${row.help}) within that range, or leave it out for ${String(row.fallback)}.`,
    });
  }
  return settings;
}

/** Description of the expected value, if the value is wrong. */
function wrong(value: unknown, { low, high, whole, oneOf }: SettingRow<unknown>): string | undefined {
  if (oneOf)
    return typeof value === "string" && oneOf.includes(value) ? undefined : `one of ${oneOf.join(", ")}`;
  const fits =
    typeof value === "number" &&
    Number.isFinite(value) &&
    value >= (low ?? Number.NEGATIVE_INFINITY) &&
    value <= (high ?? Number.POSITIVE_INFINITY) &&
    (!whole || Number.isInteger(value));
  if (fits) return undefined;
  return `a ${whole ? "whole " : ""}number${low === undefined ? "" : ` from ${low}`}${high === undefined ? "" : ` to ${high}`}`;
}
