/** The losses of the Tinker API per element: p is the current log-probability of a target, q the log-probability that the client sent. */
import { type Fault, fault } from "./fault.ts";

/** Inputs of a loss for one element. */
export interface Element {
  readonly p: number;
  readonly q: number;
  readonly advantage: number;
  readonly weight: number;
  /** Bounds of the ratio exp(p − q). */
  readonly low: number;
  readonly high: number;
  readonly beta: number;
}

/** The loss of an element and its derivative with respect to p. */
export type Loss = (x: Element) => readonly [loss: number, slope: number];

interface LossKind {
  readonly loss: Loss;
  /** Inputs that every datum must have besides `target_tokens`. */
  readonly needs: readonly string[];
  /** Settings of `loss_fn_config`, with their defaults. */
  readonly settings: Readonly<Partial<Record<Setting, number>>>;
}

const settingNames = ["clip_low_threshold", "clip_high_threshold", "beta"] as const;
type Setting = (typeof settingNames)[number];

const clamp = (x: number, low: number, high: number): number => Math.min(Math.max(x, low), high);
const behaviour = ["logprobs", "advantages"];

/** −w·p */
const crossEntropy: Loss = ({ p, weight }) => [-weight * p, -weight];

/** −w·r·A with r = exp(p − q) */
const importanceSampling: Loss = ({ p, q, advantage, weight }) => {
  const loss = -weight * Math.exp(p - q) * advantage;
  return [loss, loss];
};

/** −w·min(r·A, clip(r, low, high)·A): no gradient if the clipped branch is smaller. */
const ppo: Loss = ({ p, q, advantage, weight, low, high }) => {
  const ratio = Math.exp(p - q);
  const free = ratio * advantage;
  const held = clamp(ratio, low, high) * advantage;
  return free <= held ? [-weight * free, -weight * free] : [-weight * held, 0];
};

/** −w·sg(clip(r, low, high))·A·p (sg: stop-gradient): the clipped ratio is a constant, so every token has a gradient. */
const cispo: Loss = ({ p, q, advantage, weight, low, high }) => {
  const slope = -weight * clamp(Math.exp(p - q), low, high) * advantage;
  return [slope * p, slope];
};

/** −w·(A·p − ½·β·(p − q)²) */
const dro: Loss = ({ p, q, advantage, weight, beta }) => {
  const gap = p - q;
  return [-weight * (advantage * p - 0.5 * beta * gap * gap), -weight * (advantage - beta * gap)];
};

const kinds: Readonly<Record<string, LossKind>> = {
  cross_entropy: { loss: crossEntropy, needs: [], settings: {} },
  importance_sampling: { loss: importanceSampling, needs: behaviour, settings: {} },
  ppo: {
    loss: ppo,
    needs: behaviour,
    settings: { clip_low_threshold: 0.8, clip_high_threshold: 1.2 },
  },
  cispo: {
    loss: cispo,
    needs: behaviour,
    settings: { clip_low_threshold: 0, clip_high_threshold: 4 },
  },
  dro: { loss: dro, needs: behaviour, settings: { beta: 0.01 } },
};
export const lossNames: readonly string[] = Object.keys(kinds);

export interface ChosenLoss {
  readonly name: string;
  readonly loss: Loss;
  readonly needs: readonly string[];
  /** Clipping bounds of the whole request; a datum may override them. */
  readonly low: number;
  readonly high: number;
  readonly beta: number;
}

/** @param config `loss_fn_config` of the request. A setting that the loss does not have is refused, not ignored. */
export function chooseLoss(
  name: string,
  config: Readonly<Record<string, number | string>>,
): ChosenLoss | Fault {
  const kind = Object.hasOwn(kinds, name) ? kinds[name] : undefined;
  if (!kind) {
    return fault(
      `loss_fn: got ${JSON.stringify(name)}, expected one of ${lossNames.join(", ")}. Compute other losses with forward_backward_custom.`,
    );
  }
  const strange = Object.entries(config).find(
    ([key, value]) => !Object.hasOwn(kind.settings, key) || !Number.isFinite(value),
  );
  if (strange) {
    const allowed = Object.keys(kind.settings).join(", ") || "no settings";
    return fault(
      `loss_fn_config: got ${JSON.stringify(strange[0])} = ${JSON.stringify(strange[1])}, expected ${allowed} as numbers for ${name}. Leave it out.`,
    );
  }
  const setting = (key: Setting, otherwise: number): number =>
    Number(config[key] ?? kind.settings[key] ?? otherwise);
  const low = setting("clip_low_threshold", 0);
  const high = setting("clip_high_threshold", Number.POSITIVE_INFINITY);
  if (low > high) {
    return fault(
      `loss_fn_config: got a clip_low_threshold of ${low} above the clip_high_threshold of ${high}. They are bounds of the ratio, such as 0.8 and 1.2.`,
    );
  }
  return { name, loss: kind.loss, needs: kind.needs, low, high, beta: setting("beta", 0) };
}
