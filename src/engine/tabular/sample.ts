/** Drawing one action from a table, token by token. */
import type { Sample, SampleRequest } from "../../core/model.ts";
import { concatIds } from "../../core/pack.ts";
import { randomStream } from "../../core/random.ts";
import type { StopReason } from "../../core/words.ts";
import type { WordCodec } from "./codec.ts";
import { entropyOf, logSoftmax, topIndices } from "./softmax.ts";

/** Continues one prompt. All randomness is the request's seed, so that a batch changes nothing. */
export function sampleOne(
  request: SampleRequest,
  codec: WordCodec,
  logits: (prefix: Int32Array) => Float64Array,
  version: string,
): Sample {
  const { maxTokens, stop: stops = [] } = request;
  const random = randomStream(request.seed);
  const action: number[] = [];
  const logps: number[] = [];
  const behaviours: number[] = [];
  const entropies: number[] = [];
  let stop: StopReason = "length";
  while (action.length < maxTokens) {
    const logits_W = logits(concatIds([request.prompt, Int32Array.from(action)]));
    const logp_W = logSoftmax(logits_W);
    const behaviour_W = behaviourOf(logits_W, request, action.length, codec.writable);
    const w = draw(behaviour_W, random.next());
    action.push(codec.writable + w);
    logps.push(logp_W[w]!);
    behaviours.push(behaviour_W[w]!);
    entropies.push(entropyOf(logp_W));
    if (codec.writable + w === codec.endId) {
      stop = "eos";
      break;
    }
    if (stops.length === 0) continue;
    const text = codec.decode(Int32Array.from(action));
    if (stops.some((s) => text.includes(s))) {
      stop = "stop";
      break;
    }
  }
  return {
    action: Int32Array.from(action),
    logp: Float32Array.from(logps),
    behaviour: Float32Array.from(behaviours),
    entropy: Float32Array.from(entropies),
    stop,
    version,
  };
}

/** ln of the distribution really drawn from, [W]: allowed ids, temperature, top k, top p, in this order. */
function behaviourOf(
  logits_W: Float64Array,
  request: SampleRequest,
  position: number,
  first: number,
): Float64Array {
  const { temperature = 1, topK, topP, allowed } = request;
  const no = Number.NEGATIVE_INFINITY;
  let xs = logits_W;
  const ids = allowed?.[position];
  if (ids) {
    const may = new Set(ids);
    xs = xs.map((x, w) => (may.has(first + w) ? x : no));
  }
  if (temperature === 0) {
    const [best] = topIndices(xs, 1);
    return xs.map((_, w) => (w === best ? 0 : no));
  }
  xs = logSoftmax(xs.map((x) => x / temperature));
  if (topK !== undefined && topK < xs.length) xs = keepOnly(xs, topIndices(xs, topK));
  if (topP !== undefined && topP < 1) {
    const kept: number[] = [];
    let mass = 0;
    for (const w of topIndices(xs, xs.length)) {
      kept.push(w);
      mass += Math.exp(xs[w]!);
      if (mass >= topP) break;
    }
    xs = keepOnly(xs, kept);
  }
  return xs;
}

function keepOnly(xs: Float64Array, kept: readonly number[]): Float64Array {
  const may = new Set(kept);
  return logSoftmax(xs.map((x, w) => (may.has(w) ? x : Number.NEGATIVE_INFINITY)));
}

function draw(logp_W: Float64Array, uniform: number): number {
  let left = uniform;
  let last = 0;
  for (let w = 0; w < logp_W.length; w++) {
    const p = Math.exp(logp_W[w]!);
    if (p === 0) continue;
    last = w;
    left -= p;
    if (left < 0) return w;
  }
  return last; // rounding left a crumb
}
