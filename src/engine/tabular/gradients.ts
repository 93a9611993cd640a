/** Gradients of tabular weights, by name, and the optimiser's step. */
import { adamwDefaults, adamwStep } from "../../common/statistics/adamw.ts";
import { WhetstoneError } from "../../core/errors.ts";
import type { GradientId, Model, StepRule } from "../../core/model.ts";
import { type Weights, weightsName } from "./weights.ts";

export const mainGradient: GradientId = "main";
export const gradientName = (id: GradientId): string => `gradient.${id}`;
export const isGradient = (name: string): boolean => name.startsWith("gradient.");

/** The norm of the main gradient. @throws WhetstoneError `value.notFinite`. */
export function finiteNorm(weights: Weights): number {
  const main = gradientName(mainGradient);
  let square = 0;
  for (const table of weights.parts.values()) for (const g of table.array(main)) square += g * g;
  const norm = Math.sqrt(square);
  if (!Number.isFinite(norm)) {
    throw new WhetstoneError("value.notFinite", {
      where: "tabular engine, step",
      got: `a gradient of norm ${norm}`,
      expected: "finite gradients",
      fix: "Look for rewards or log-probabilities that are NaN or infinite.",
    });
  }
  return norm;
}

/** Applies the main gradient to all weights. @param step number of the step, from 1. */
export function optimise(weights: Weights, rule: StepRule, norm: number, step: number): void {
  const { clip, betas, epsilon = adamwDefaults.epsilon, weightDecay = 0, optimiser = "adamw" } = rule;
  const main = gradientName(mainGradient);
  const scale = clip !== undefined && norm > clip ? clip / norm : 1;
  for (const [name, table] of weights.parts) {
    const numbers = table.array(weightsName);
    const gradient = table.array(main).map((g) => g * scale);
    const group = Object.entries(rule.groups ?? {}).find(([part]) => name.includes(part))?.[1];
    const learningRate = group?.learningRate ?? rule.learningRate;
    if (optimiser === "sgd") {
      gradient.forEach((g, i) => {
        numbers[i] = (1 - learningRate * weightDecay) * numbers[i]! - learningRate * g;
      });
      continue;
    }
    adamwStep(numbers, gradient, table.array("m"), table.array("v"), {
      learningRate,
      beta1: betas?.[0] ?? adamwDefaults.beta1,
      beta2: betas?.[1] ?? adamwDefaults.beta2,
      epsilon,
      weightDecay,
      step,
    });
  }
  weights.changed();
}

export function dropGradients(weights: Weights): void {
  for (const table of weights.parts.values()) for (const n of table.names()) if (isGradient(n)) table.drop(n);
}

/** Products and sums of named gradients. */
export const gradientsOf = (weights: Weights): NonNullable<Model["gradients"]> => ({
  dot: async (a, b) => {
    let sum = 0;
    for (const table of weights.parts.values()) {
      const right = table.array(gradientName(b));
      table.array(gradientName(a)).forEach((x, i) => {
        sum += x * right[i]!;
      });
    }
    return sum;
  },
  combine: async (sum) => {
    for (const table of weights.parts.values()) {
      const out = new Float64Array(table.rows.size * table.width);
      for (const [gradient, factor] of Object.entries(sum)) {
        table.array(gradientName(gradient)).forEach((g, i) => {
          out[i]! += factor * g;
        });
      }
      table.array(gradientName(mainGradient)).set(out);
    }
  },
});

/** The gradient in a buffer, by context, [writable tokens] each. */
export function gradientRows(weights: Weights, id: GradientId): Map<string, Float64Array> {
  const table = weights.part("logits");
  const gradient = table.array(gradientName(id));
  const rows = [...table.rows].map(([context, row]): [string, Float64Array] => [
    context,
    gradient.slice(row * table.width, (row + 1) * table.width),
  ]);
  return new Map(rows);
}
