/** Batched sampling with an in-place key/value cache; equal prompts share one prefill. */
import { WhetstoneError } from "../../core/errors.ts";
import type { Codec, Sample, SampleRequest } from "../../core/model.ts";
import { type Random, randomStream } from "../../core/random.ts";
import type { TypedArray } from "../../tensor/index.ts";
import { keyName, valueName } from "./cached-graphs.ts";
import type { DecoderConfig } from "./config.ts";
import { draw } from "./draw.ts";
import type { Programs } from "./programs.ts";
import { requireTokens } from "./token-ids.ts";

/** Lengths are rounded up to these, from a request's own sizes alone, so that company never changes a result. */
const promptStep = 32;
const cacheStep = 64;

const roundUp = (n: number, step: number): number => Math.ceil(n / step) * step;
/** The smallest of the sizes that holds n rows. */
const sizeFor = (sizes: readonly number[], n: number): number => sizes.find((size) => size >= n)!;

function* chunks<T>(items: readonly T[], size: number): Generator<readonly T[]> {
  for (let from = 0; from < items.length; from += size) yield items.slice(from, from + size);
}

interface Open {
  readonly request: SampleRequest;
  readonly limit: number;
  readonly random: Random;
  /** Index into the results. */
  readonly at: number;
  readonly action: number[];
  readonly logp: number[];
  readonly behaviour: number[];
  readonly entropy: number[];
}

interface Job {
  readonly request: SampleRequest;
  readonly limit: number;
  readonly at: number;
}

export interface SamplerParts {
  readonly config: DecoderConfig;
  readonly programs: Programs;
  /** As `feedsOf` gives them. */
  readonly weights: Readonly<Record<string, Float32Array>>;
  readonly codec: Codec;
  readonly version: string;
}

function requireOptions({
  maxTokens,
  temperature = 1,
  topK = 1,
  topP = 1,
  allowed = [],
}: SampleRequest): void {
  const good =
    Number.isInteger(maxTokens) &&
    maxTokens > 0 &&
    temperature >= 0 &&
    Number.isInteger(topK) &&
    topK > 0 &&
    topP > 0 &&
    topP <= 1 &&
    allowed.every((ids) => ids.length > 0);
  if (good) return;
  const empty = allowed.some((ids) => ids.length === 0) ? ", no allowed id somewhere" : "";
  throw new WhetstoneError("option.range", {
    where: "sample",
    got: `maxTokens ${maxTokens}, temperature ${temperature}, topK ${topK}, topP ${topP}${empty}`,
    expected: "maxTokens and topK from 1, temperature from 0, topP in (0, 1], and an id for every place",
    mend: "Leave an option out to not narrow the choice.",
  });
}

/** Continues every prompt. A request's result depends on its prompt, its options and its seed alone. */
export async function sampleAll(parts: SamplerParts, requests: readonly SampleRequest[]): Promise<Sample[]> {
  const out: Sample[] = [];
  const jobs = requests.map((request, at): Job => {
    const room = parts.config.contextTokens - request.prompt.length;
    if (request.prompt.length < 1 || room < 1) {
      throw new WhetstoneError("context.tooLong", {
        where: "sample",
        got: `a prompt of ${request.prompt.length} tokens`,
        expected: `1 to ${parts.config.contextTokens - 1}`,
        mend: "Shorten the conversation or make the model with a longer context.",
      });
    }
    requireTokens("sample", request.prompt, parts.config.vocabulary);
    requireOptions(request);
    for (const ids of request.allowed ?? []) requireTokens("sample", ids, parts.config.vocabulary);
    return { request, limit: Math.min(request.maxTokens, room), at };
  });
  const byCache = Map.groupBy(jobs, (j) => roundUp(j.request.prompt.length + j.limit, cacheStep));
  for (const [places, sameCache] of byCache) {
    const sizes = parts.programs.decodeSizes(places);
    for (const some of chunks(sameCache, sizes.at(-1)!)) await sampleRows(parts, some, places, sizes, out);
  }
  return out;
}

/** Keys and values of a set of rows, by input name, each [B, kvHeads, places, headWidth]. */
type Caches = Record<string, Float32Array>;

const cacheNames = (c: DecoderConfig): string[] =>
  Array.from({ length: c.layers }, (_, i) => [keyName(i), valueName(i)]).flat();

function emptyCaches(c: DecoderConfig, B: number, places: number): Caches {
  return Object.fromEntries(
    cacheNames(c).map((name) => [name, new Float32Array(B * c.kvHeads * places * c.headWidth)]),
  );
}

/** Copies the first `length` places of one row's heads. */
function copyRow(
  c: DecoderConfig,
  from: Float32Array,
  fromRow: number,
  fromPlaces: number,
  to: Float32Array,
  toRow: number,
  toPlaces: number,
  length: number,
): void {
  for (let h = 0; h < c.kvHeads; h++) {
    const start = (fromRow * c.kvHeads + h) * fromPlaces * c.headWidth;
    to.set(
      from.subarray(start, start + length * c.headWidth),
      (toRow * c.kvHeads + h) * toPlaces * c.headWidth,
    );
  }
}

/** Takes the next token of a row from its logits. @returns the finished sample, if that ended it. */
function advance(row: Open, logits: Float32Array, parts: SamplerParts): Sample | undefined {
  const { request } = row;
  const allowed = request.allowed?.[row.action.length];
  const d = draw(logits, request, allowed, row.random.next());
  row.action.push(d.id);
  row.logp.push(d.logp);
  row.behaviour.push(d.behaviour);
  row.entropy.push(d.entropy);
  const stop =
    d.id === parts.codec.endId
      ? "eos"
      : request.stop?.some((s) => parts.codec.decode(Int32Array.from(row.action)).includes(s))
        ? "stop"
        : row.action.length >= row.limit
          ? "length"
          : undefined;
  if (!stop) return undefined;
  return {
    action: Int32Array.from(row.action),
    logp: Float32Array.from(row.logp),
    behaviour: Float32Array.from(row.behaviour),
    entropy: Float32Array.from(row.entropy),
    stop,
    version: parts.version,
  };
}

async function sampleRows(
  parts: SamplerParts,
  jobs: readonly Job[],
  places: number,
  sizes: readonly number[],
  out: Sample[],
): Promise<void> {
  const { config: c, programs, codec, weights } = parts;
  const V = c.vocabulary;
  let B = sizeFor(sizes, jobs.length);
  let caches = emptyCaches(c, B, places);
  let rows: Open[] = [];

  // prefill: every distinct prompt once, together with the prompts of its own length class
  const prompts = [...Map.groupBy(jobs, (j) => j.request.prompt.join()).values()];
  const classes = Map.groupBy(prompts, (same) => roundUp(same[0]!.request.prompt.length, promptStep));
  const batches = [...classes].flatMap(([T, all]) => {
    const fits = programs.prefillSizes(T);
    return [...chunks(all, fits.at(-1)!)].map((group) => ({ T, P: sizeFor(fits, group.length), group }));
  });

  for (const { T, P, group } of batches) {
    const tokens = new Int32Array(P * T).fill(codec.padId);
    const last = new Int32Array(P);
    group.forEach((same, p) => {
      const { prompt } = same[0]!.request;
      tokens.set(prompt, p * T);
      last[p] = p * T + prompt.length - 1;
    });
    const session = await programs.prefill(P, T);
    const filled = await session.run({ ...weights, tokens, last });
    const logits = filled.logits as Float32Array;
    group.forEach((same, p) => {
      for (const { request, limit, at } of same) {
        const row: Open = {
          request,
          limit,
          at,
          random: randomStream(request.seed),
          action: [],
          logp: [],
          behaviour: [],
          entropy: [],
        };
        const done = advance(row, logits.subarray(p * V, (p + 1) * V), parts);
        if (done) {
          out[at] = done;
          continue;
        }
        for (const name of cacheNames(c)) {
          copyRow(
            c,
            filled[name] as Float32Array,
            p,
            T,
            caches[name]!,
            rows.length,
            places,
            request.prompt.length,
          );
        }
        rows.push(row);
      }
    });
  }

  while (rows.length > 0) {
    const needed = sizeFor(sizes, rows.length);
    if (needed < B) {
      // the first rows of the larger cache are the rows that are left
      caches = Object.fromEntries(
        Object.entries(caches).map(([name, data]) => [name, data.slice(0, (data.length / B) * needed)]),
      );
      B = needed;
    }
    const tokens = new Int32Array(B);
    const position = new Int32Array(B);
    const place = new Int32Array(B * c.kvHeads * 3);
    for (let r = 0; r < B; r++) {
      const row = rows[r];
      if (row) {
        tokens[r] = row.action.at(-1)!;
        position[r] = row.request.prompt.length + row.action.length - 1;
      }
      for (let h = 0; h < c.kvHeads; h++) place.set([r, h, position[r]!], (r * c.kvHeads + h) * 3);
    }
    const session = await programs.decode(B, places);
    const into: Record<string, TypedArray> = {};
    for (const name of cacheNames(c)) into[`${name}.next`] = caches[name]!;
    const result = await session.run({ ...weights, ...caches, tokens, position, place }, into);
    const logits = result.logits as Float32Array;
    const left: Open[] = [];
    rows.forEach((row, r) => {
      const done = advance(row, logits.subarray(r * V, (r + 1) * V), parts);
      if (done) {
        out[row.at] = done;
        return;
      }
      if (left.length < r) {
        const length = row.request.prompt.length + row.action.length - 1;
        for (const name of cacheNames(c))
          copyRow(c, caches[name]!, r, places, caches[name]!, left.length, places, length);
      }
      left.push(row);
    });
    rows = left;
  }
}
