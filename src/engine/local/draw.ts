/** One token from one row of logits. */
import { WhetstoneError } from "../../core/errors.ts";
import type { SampleRequest } from "../../core/model.ts";

export interface Drawn {
  readonly id: number;
  /** ln p at temperature 1 over the full vocabulary. */
  readonly logp: number;
  /** ln p under the distribution drawn from. 0 for greedy choices. */
  readonly behaviour: number;
  /** Entropy of the full distribution at temperature 1, nats. */
  readonly entropy: number;
}

function notFinite(what: string, top: number): WhetstoneError {
  return new WhetstoneError("engine.failed", {
    where: "local engine, sampling",
    got: `${what} whose probabilities do not add up, the largest ${top}`,
    expected: "finite logits",
    mend: "Go back to a checkpoint and lower the learning rate.",
  });
}

/**
 * Draws by inverting the cumulative distribution, in order of id.
 * @param logits_V one row. @param allowed ids that may be drawn; default all. @param u uniform in [0, 1).
 */
export function draw(
  logits_V: Float32Array,
  { temperature = 1, topK, topP }: Pick<SampleRequest, "temperature" | "topK" | "topP">,
  allowed: Int32Array | undefined,
  u: number,
): Drawn {
  const V = logits_V.length;
  let top = -Infinity;
  for (let v = 0; v < V; v++) if (logits_V[v]! > top) top = logits_V[v]!;
  let total = 0;
  let weighted = 0;
  for (let v = 0; v < V; v++) {
    const x = logits_V[v]! - top;
    const p = Math.exp(x);
    total += p;
    if (p > 0) weighted += p * x; // 0 · −∞ is no number
  }
  // NaN and +∞ among the logits make it NaN, nothing but −∞ as well
  if (!(total > 0 && total < Number.POSITIVE_INFINITY)) throw notFinite("logits", top);
  const logTotal = Math.log(total);
  const entropy = logTotal - weighted / total;
  const logpOf = (id: number): number => logits_V[id]! - top - logTotal;

  const narrowed = temperature !== 1 || topK !== undefined || topP !== undefined || allowed !== undefined;
  if (!narrowed) {
    let left = u * total;
    let id = V - 1; // rounding may leave a crumb
    for (let v = 0; v < V; v++) {
      left -= Math.exp(logits_V[v]! - top);
      if (left < 0) {
        id = v;
        break;
      }
    }
    return { id, logp: logpOf(id), behaviour: logpOf(id), entropy };
  }

  let ids = allowed ? [...allowed].sort((a, b) => a - b) : Array.from({ length: V }, (_, v) => v);
  const best = ids.reduce((a, b) => (logits_V[b]! > logits_V[a]! ? b : a));
  if (temperature === 0) return { id: best, logp: logpOf(best), behaviour: 0, entropy };
  const weight = (id: number): number => Math.exp((logits_V[id]! - logits_V[best]!) / temperature);
  if (topK !== undefined || topP !== undefined) {
    const ranked = ids.toSorted((a, b) => logits_V[b]! - logits_V[a]! || a - b).slice(0, topK);
    if (topP !== undefined) {
      const sum = ranked.reduce((s, id) => s + weight(id), 0);
      let mass = 0;
      ids = ranked.slice(
        0,
        ranked.findIndex((id) => (mass += weight(id)) >= topP * sum) + 1 || ranked.length,
      );
    } else ids = ranked;
    ids.sort((a, b) => a - b);
  }
  const sum = ids.reduce((s, id) => s + weight(id), 0);
  if (!(sum > 0 && sum < Number.POSITIVE_INFINITY))
    throw notFinite("logits of the allowed ids", logits_V[best]!);
  let left = u * sum;
  const id = ids.find((v) => (left -= weight(v)) < 0) ?? ids.at(-1)!;
  return { id, logp: logpOf(id), behaviour: Math.log(weight(id) / sum), entropy };
}
