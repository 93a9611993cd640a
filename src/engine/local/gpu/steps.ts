/** Optimiser steps and gradients of a model on a GPU. */
import { adamwDefaults } from "../../../common/statistics/adamw.ts";
import type { StepRule } from "../../../core/model.ts";
import type { GpuArray } from "../../../tensor/wgsl/device.ts";
import type { DeviceModel } from "../deviceModel.ts";
import { mainGradient, ruleFor } from "../weights.ts";
import type { Running, State } from "./kind.ts";
import type { Arrays } from "./units.ts";

/** Zeros for every trained array. */
export function zeros({ kind: { trained }, device: { pools } }: Running): Map<string, GpuArray> {
  const made = pools.gradients.zeros(trained.map((u) => u.length));
  return new Map(trained.map((u, i) => [u.name, made[i]!]));
}

export function zeroMoments(m: Running): Arrays {
  const made = zeros(m);
  for (const x of made.values()) m.device.held.hold(x);
  return made;
}

export function clearGradients({ gradients, device: { pools } }: Running): void {
  for (const arrays of gradients.values()) pools.gradients.give([...arrays.values()]);
  gradients.clear();
}

const pairs = ({ kind: { trained } }: Running, x: Arrays, y: Arrays) =>
  trained.map((u) => [x.get(u.name)!, y.get(u.name)!] as const);

async function blendWeights(m: Running, toward: State, rate: number): Promise<void> {
  await m.device.arithmetic.combine(
    pairs(m, toward.weights, m.state.weights).map(([x, y]) => ({
      range: { from: 0, count: x.length },
      own: 1 - rate,
      other: rate,
      x,
      y,
    })),
  );
}

/** One step over every part of every trained array. @param by factor on the gradient. */
async function stepBy(m: Running, gradient: Arrays, rule: Omit<StepRule, "pull">, by: number): Promise<void> {
  const { kind, device, state } = m;
  const ranges = kind.trained.flatMap((u) =>
    u.parts.map((part) => ({ u, part, ...ruleFor(part.name, rule) })),
  );
  if (rule.optimiser === "sgd") {
    await device.arithmetic.combine(
      ranges.map(({ u, part, learningRate, weightDecay }) => ({
        range: part,
        own: 1 - learningRate * weightDecay,
        other: -learningRate * by,
        x: gradient.get(u.name)!,
        y: state.weights.get(u.name)!,
      })),
    );
    return;
  }
  state.steps++;
  state.moments ??= { first: zeroMoments(m), second: zeroMoments(m) };
  const { first, second } = state.moments;
  const [beta1, beta2] = rule.betas ?? [adamwDefaults.beta1, adamwDefaults.beta2];
  await device.arithmetic.adamw(
    ranges.map(({ u, part, learningRate, weightDecay }) => ({
      range: {
        ...part,
        rate: learningRate / (1 - beta1 ** state.steps),
        scale: 1 / Math.sqrt(1 - beta2 ** state.steps),
        keep: 1 - learningRate * weightDecay,
        beta1,
        beta2,
        epsilon: rule.epsilon ?? adamwDefaults.epsilon,
        by,
      },
      arrays: [gradient.get(u.name)!, state.weights.get(u.name)!, first.get(u.name)!, second.get(u.name)!],
    })),
  );
}

/** @param stateOf another model's state. */
export function stepsOf(
  m: Running,
  stateOf: (model: DeviceModel) => State,
): Pick<DeviceModel, "step" | "blend" | "dot" | "combine"> {
  const { state, gradients, device } = m;
  const { arithmetic, pools } = device;
  return {
    async step(rule, pull) {
      const gradient = gradients.get(mainGradient);
      if (!gradient) {
        clearGradients(m);
        return { gradientNorm: 0, skipped: 1 };
      }
      const norm = Math.sqrt(await arithmetic.dot(pairs(m, gradient, gradient))) / m.lossScale;
      if (!Number.isFinite(norm)) {
        clearGradients(m);
        m.lossScale = Math.max(1, m.lossScale / 4); // a factor may have been too large for 16 bits
        return { gradientNorm: norm, skipped: 1 };
      }
      const clip = rule.clip !== undefined && norm > rule.clip ? rule.clip / norm : 1;
      await stepBy(m, gradient, rule, clip / m.lossScale);
      clearGradients(m);
      if (pull) await blendWeights(m, stateOf(pull.toward), rule.learningRate * pull.strength);
      state.version++;
      return { gradientNorm: norm, skipped: 0 };
    },
    async blend(toward, rate) {
      await blendWeights(m, stateOf(toward), rate);
      state.version++;
    },
    async dot(x, y) {
      const [one, other] = [gradients.get(x), gradients.get(y)];
      return one && other ? (await arithmetic.dot(pairs(m, one, other))) / m.lossScale ** 2 : 0;
    },
    async combine(sum) {
      const out = zeros(m);
      for (const [name, scale] of Object.entries(sum)) {
        const part = gradients.get(name);
        if (!part) continue;
        const all = pairs(m, part, out).map(([x, y]) => ({ range: { from: 0, count: x.length }, x, y }));
        await arithmetic.combine(all.map((job) => ({ ...job, own: 1, other: scale })));
      }
      const old = gradients.get(mainGradient);
      if (old) pools.gradients.give([...old.values()]);
      gradients.set(mainGradient, out);
    },
  };
}
