/** Samples one action from a table, token by token. */

import { concatIds } from "../../common/tokens/sequence.ts";
import type { Sample, SampleRequest } from "../../core/model.ts";
import { randomStream } from "../../core/random.ts";
import type { StopReason } from "../../core/types.ts";
import { type Choice, choiceTree } from "../choices.ts";
import { endsOf, requireOptions } from "../requests.ts";
import type { WordCodec } from "./codec.ts";
import { entropyOf, logSoftmax, topIndices } from "./softmax.ts";
import type { Distribution } from "./weights.ts";

/** The distribution of the next token after a prefix. */
export type After = (prefix: Int32Array) => Distribution;

/**
 * Continues one prompt. The request's seed is the only randomness, so results do not depend on the batch.
 * @param mixedIn the model that the request's `mix` names.
 * @throws WhetstoneError `option.range`.
 */
export function sampleOne(
  request: SampleRequest,
  codec: WordCodec,
  after: After,
  version: string,
  mixedIn?: After,
): Sample {
  requireOptions(request);
  const ends = endsOf(request, codec);
  let choice: Choice | undefined = request.choices && choiceTree(request.choices);
  const random = randomStream(request.seed);
  const action: number[] = [];
  const logps: number[] = [];
  const behaviours: number[] = [];
  const entropies: number[] = [];
  const allowed: (Int32Array | null)[] = [];
  let stop: StopReason | undefined;
  while (!stop) {
    const prefix = concatIds([request.prompt, Int32Array.from(action)]);
    const said = after(prefix);
    const { logp_W, entropy } = said;
    const may = choice?.ids ?? request.allowed?.[action.length] ?? null;
    const drawn = mixedIn ? mixture(said, mixedIn(prefix), request.mix?.share ?? 0) : said;
    const behaviour_W = behaviourOf(drawn, request, may, codec.writable);
    const w = draw(behaviour_W, random.next());
    const id = codec.writable + w;
    action.push(id);
    allowed.push(may);
    logps.push(logp_W[w]!);
    behaviours.push(behaviour_W[w]!);
    entropies.push(entropy);
    choice = choice?.next.get(id);
    stop = ends(action) ?? (choice?.ids.length === 0 ? "stop" : undefined);
    if (!stop && action.length >= request.maxTokens) stop = "length";
  }
  return {
    action: Int32Array.from(action),
    logp: Float32Array.from(logps),
    behaviour: Float32Array.from(behaviours),
    entropy: Float32Array.from(entropies),
    ...(allowed.every((ids) => ids !== null) ? { allowed } : {}),
    stop,
    version,
  };
}

/** Of logits (1 − share) · own + share · other. */
function mixture(own: Distribution, other: Distribution, share: number): Distribution {
  const logits_W = own.logits_W.map((x, w) => (1 - share) * x + share * other.logits_W[w]!);
  const logp_W = logSoftmax(logits_W);
  return { logits_W, logp_W, entropy: entropyOf(logp_W) };
}

/** ln of the distribution actually sampled from, [W]: allowed ids, temperature, top k, top p, min p, in this order. */
function behaviourOf(
  { logits_W, logp_W }: Distribution,
  request: SampleRequest,
  allowed: Int32Array | null,
  first: number,
): Float64Array {
  const { temperature = 1, topK, topP, minP } = request;
  if (temperature === 1 && !allowed && topK === undefined && topP === undefined && minP === undefined)
    return logp_W;
  const no = Number.NEGATIVE_INFINITY;
  let xs = logits_W;
  if (allowed) {
    const may = new Set(allowed);
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
  if (minP !== undefined && minP > 0) {
    const least = Math.log(minP) + xs.reduce((a, b) => Math.max(a, b), no);
    xs = keepOnly(
      xs,
      [...xs.keys()].filter((w) => xs[w]! >= least),
    );
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
  return last; // reached only by rounding
}
