/** Samples one token from the scores of one row. */
import { WhetstoneError } from "../../core/errors.ts";
import type { SampleRequest } from "../../core/model.ts";

/** The model's prediction of the next token of one row. */
export interface Scores {
  /** Read only if options restrict the choice. */
  readonly logits_V: Float32Array;
  /** softmax(logits). */
  readonly p_V: Float32Array;
  /** Entropy of p, nats. */
  readonly entropy: number;
}

export type DrawOptions = Pick<SampleRequest, "temperature" | "topK" | "topP" | "minP">;

export interface Drawn {
  readonly id: number;
  /** ln p at temperature 1 over the full vocabulary. */
  readonly logp: number;
  /** ln p under the distribution sampled from. 0 for greedy choices. */
  readonly behaviour: number;
  /** Entropy of the full distribution at temperature 1, nats. */
  readonly entropy: number;
}

export const narrows = ({ temperature = 1, topK, topP, minP }: DrawOptions): boolean =>
  temperature !== 1 || topK !== undefined || topP !== undefined || minP !== undefined;

/**
 * Samples by inverting the cumulative distribution, in order of id. Restrictions apply in this order: allowed ids,
 * temperature, top k, top p, min p.
 * @param allowed ids that may be sampled, ascending; default all. @param u uniform in [0, 1).
 * @throws WhetstoneError `engine.failed` if the scores do not form a distribution.
 */
export function draw(
  scores: Scores,
  options: DrawOptions,
  allowed: Int32Array | undefined,
  u: number,
): Drawn {
  return allowed || narrows(options)
    ? drawNarrowed(scores, options, allowed, u)
    : drawPlain(scores.p_V, scores.entropy, u);
}

/**
 * As {@link draw}, from the softmax of logits (1 − share) · own + share · other. Restrictions apply to the mixture; `logp`
 * and `entropy` stay the own model's, and `behaviour` is the mixture's.
 */
export function drawMixed(
  own: Scores,
  other: Pick<Scores, "logits_V">,
  share: number,
  options: DrawOptions,
  allowed: Int32Array | undefined,
  u: number,
): Drawn {
  const V = own.logits_V.length;
  if (mixed.logits_V.length !== V) mixed = { logits_V: new Float32Array(V), p_V: new Float32Array(V) };
  const { logits_V, p_V } = mixed;
  let highest = Number.NEGATIVE_INFINITY;
  let top = 0;
  for (let v = 0; v < V; v++) {
    logits_V[v] = (1 - share) * own.logits_V[v]! + share * other.logits_V[v]!;
    highest = Math.max(highest, logits_V[v]!);
    if (own.logits_V[v]! > own.logits_V[top]!) top = v;
  }
  let total = 0;
  for (let v = 0; v < V; v++) total += Math.exp(logits_V[v]! - highest);
  for (let v = 0; v < V; v++) p_V[v] = Math.exp(logits_V[v]! - highest) / total;
  const { id, behaviour } = draw({ logits_V, p_V, entropy: own.entropy }, options, allowed, u);
  const logTotal = own.logits_V[top]! - Math.log(own.p_V[top]!);
  return { id, logp: own.logits_V[id]! - logTotal, behaviour, entropy: own.entropy };
}

/** Reused buffers of the mixture: one row is sampled at a time. */
let mixed = { logits_V: new Float32Array(), p_V: new Float32Array() };

function drawPlain(p_V: Float32Array, entropy: number, u: number): Drawn {
  const found = invert(p_V, p_V.length, u);
  // float32 probabilities add up to a little more or less than 1
  const id = found < 0 ? invert(p_V, p_V.length, u * totalOf(p_V, p_V.length)) : found;
  const logp = Math.log(p_V[id]!);
  return { id, logp, behaviour: logp, entropy };
}

/** Reused buffer: one row is sampled at a time. */
let weights = new Float64Array(0);

function drawNarrowed(
  { logits_V, p_V, entropy }: Scores,
  { temperature = 1, topK, topP, minP }: DrawOptions,
  allowed: Int32Array | undefined,
  u: number,
): Drawn {
  const n = allowed ? allowed.length : logits_V.length;
  const all: Candidates = { logits_V, allowed, n };
  let top = 0;
  for (let v = 1; v < logits_V.length; v++) if (logits_V[v]! > logits_V[top]!) top = v;
  const logTotal = logits_V[top]! - Math.log(p_V[top]!);
  if (!Number.isFinite(logTotal)) throw notFinite("logits", logits_V[top]!);
  const best = allowed ? allowed.reduce((a, b) => (logits_V[b]! > logits_V[a]! ? b : a)) : top;
  const logpOf = (id: number): number => logits_V[id]! - logTotal;
  if (temperature === 0) return { id: best, logp: logpOf(best), behaviour: 0, entropy };

  const highest = logits_V[best]!;
  let cut: Cut = { logit: Number.NEGATIVE_INFINITY, id: Number.POSITIVE_INFINITY };
  if (topK !== undefined && topK < n) cut = cutAt(all, highest, undefined, topK, cut);
  if (weights.length < n) weights = new Float64Array(n);
  let sum = 0;
  for (let i = 0; i < n; i++) {
    const id = allowed ? allowed[i]! : i;
    const x = logits_V[id]!;
    const w = isKept(x, id, cut)
      ? temperature === 1 && !allowed
        ? p_V[id]! // all allowed ids may be too improbable for float32
        : Math.exp((x - highest) / temperature)
      : 0;
    weights[i] = w;
    sum += w;
  }
  if (!(sum > 0 && sum < Number.POSITIVE_INFINITY)) throw notFinite("logits of the allowed ids", highest);
  if (topP !== undefined || minP !== undefined) {
    if (topP !== undefined && topP < 1) cut = cutAt(all, highest, weights, topP * sum, cut);
    const least = minP === undefined ? 0 : minP * weights[allowed ? allowed.indexOf(best) : best]!;
    sum = 0;
    for (let i = 0; i < n; i++) {
      const id = allowed ? allowed[i]! : i;
      if (weights[i]! < least || !isKept(logits_V[id]!, id, cut)) weights[i] = 0;
      sum += weights[i]!;
    }
  }
  const i = invert(weights, n, u * sum);
  const id = allowed ? allowed[i]! : i;
  return { id, logp: logpOf(id), behaviour: Math.log(weights[i]! / sum), entropy };
}

const totalOf = (weights: Float32Array | Float64Array, n: number): number => {
  let total = 0;
  for (let i = 0; i < n; i++) total += weights[i]!;
  if (total > 0 && total < Number.POSITIVE_INFINITY) return total;
  throw notFinite("logits", total);
};

/** The first of n indices at which the running sum of weights exceeds `left`; -1 if rounding keeps it from that. */
function invert(weights: Float32Array | Float64Array, n: number, left: number): number {
  let rest = left;
  for (let i = 0; i < n; i++) {
    rest -= weights[i]!;
    if (rest < 0) return i;
  }
  return -1;
}

interface Candidates {
  readonly logits_V: Float32Array;
  readonly allowed: Int32Array | undefined;
  /** Number of candidates. */
  readonly n: number;
}

/** The last candidate that is kept, by descending logit; ties go to the lower id. */
interface Cut {
  readonly logit: number;
  readonly id: number;
}

const isKept = (x: number, id: number, cut: Cut): boolean =>
  x > cut.logit || (x === cut.logit && id <= cut.id);

const shelves = 1024;
/** The last histogram bin begins this many nats below the highest logit. */
const reach = 32;
const shelfSum = new Float64Array(shelves);

/**
 * The candidate, in order of rank, at which the running sum of worths reaches `enough`. Candidates are binned by logit
 * first, so that only those near the cut are sorted.
 * @param worth by index; default 1 each. @param before an earlier cut.
 */
function cutAt(
  { logits_V, allowed, n }: Candidates,
  highest: number,
  worth: Float64Array | undefined,
  enough: number,
  before: Cut,
): Cut {
  const shelfOf = (x: number): number => Math.min(shelves - 1, ((highest - x) * shelves) / reach) | 0;
  shelfSum.fill(0);
  for (let i = 0; i < n; i++) {
    const x = logits_V[allowed ? allowed[i]! : i]!;
    const shelf = shelfOf(x);
    shelfSum[shelf] = shelfSum[shelf]! + (worth ? worth[i]! : 1);
  }
  let sum = 0;
  let shelf = 0;
  while (shelf < shelves && sum + shelfSum[shelf]! < enough) sum += shelfSum[shelf++]!;
  if (shelf === shelves) return before; // a rounding error below `enough`: all are kept
  const near: number[] = [];
  for (let i = 0; i < n; i++) {
    const id = allowed ? allowed[i]! : i;
    if (shelfOf(logits_V[id]!) === shelf && isKept(logits_V[id]!, id, before)) near.push(i);
  }
  near.sort((a, b) => logits_V[allowed ? allowed[b]! : b]! - logits_V[allowed ? allowed[a]! : a]! || a - b);
  let last = before;
  for (const i of near) {
    const id = allowed ? allowed[i]! : i;
    last = { logit: logits_V[id]!, id };
    sum += worth ? worth[i]! : 1;
    if (sum >= enough) break;
  }
  return last;
}

function notFinite(what: string, found: number): WhetstoneError {
  return new WhetstoneError("engine.failed", {
    where: "local engine, sampling",
    got: `${what} whose probabilities do not sum to 1 (${found})`,
    expected: "finite logits",
    fix: "Go back to a checkpoint and lower the learning rate.",
  });
}
