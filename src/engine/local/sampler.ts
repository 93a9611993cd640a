/**
 * Continuous batching: a batch of rows decodes token by token, a finished reply leaves at once, and the prompts of
 * new requests are prefilled and take the free slots. A request's result depends on its prompt, its options, its seed
 * and the weights alone, bit for bit (see batchSizes.ts).
 */
import { WhetstoneError } from "../../core/errors.ts";
import type { Codec, Sample } from "../../core/model.ts";
import { type Random, randomStream } from "../../core/random.ts";
import type { AllowedTokens, StopReason } from "../../core/types.ts";
import { type Choice, choiceTree } from "../choices.ts";
import { type Ends, endsOf, requireOptions } from "../requests.ts";
import {
  cachePlaces,
  decodeRows,
  mostRows,
  prefillRows,
  promptPlaces,
  roundUp,
  rowTile,
} from "./batchSizes.ts";
import { type Cache, copyRows, emptyCache, type Move, resized } from "./cache.ts";
import type { DecoderConfig } from "./config.ts";
import { draw, drawMixed, narrows } from "./draw.ts";
import type { Programs } from "./programs.ts";
import type { Handle, LocalRequest } from "./protocol.ts";
import { requireTokens } from "./tokenIds.ts";

export interface SamplerParts {
  readonly config: DecoderConfig;
  readonly programs: Programs;
  /** As `feedsOf` returns them. They must not change while the sampler is busy. */
  readonly weights: Feeds;
  /** The weights of a model that requests mix in, of the same architecture. They must not change either. */
  readonly weightsOf: (of: Handle) => Feeds;
  readonly codec: Pick<Codec, "padId" | "endId" | "decode">;
  readonly version: string;
}

type Feeds = Readonly<Record<string, Float32Array>>;

export interface Sampler {
  /**
   * Adds requests; `step` works on them. Resolves when all of them are finished.
   * @throws WhetstoneError `option.range`, `context.tooLong`, `tokenizer.unknownToken` before anything is sampled.
   */
  sample(requests: readonly LocalRequest[]): Promise<Sample[]>;
  /** Whether any request is unfinished. */
  readonly busy: boolean;
  /** Whether an unfinished request mixes that model in. */
  mixesIn(of: Handle): boolean;
  /** Prefills waiting prompts when that is efficient, and samples the next token of every row. Never throws. */
  step(): Promise<void>;
}

/** Requests that were submitted together and are answered together. */
interface Call {
  readonly samples: Sample[];
  left: number;
  readonly resolve: (samples: Sample[]) => void;
  readonly reject: (e: unknown) => void;
  failed: boolean;
}

interface Row {
  readonly call: Call;
  /** Index among the requests of its call. */
  readonly at: number;
  readonly request: LocalRequest;
  /** Maximum number of tokens. */
  readonly limit: number;
  readonly ends: Ends;
  readonly random: Random;
  readonly action: number[];
  readonly logp: number[];
  readonly behaviour: number[];
  readonly entropy: number[];
  /** Allowed ids at each token, if the request restricts them. */
  readonly allowed: Int32Array[];
  /** Current node in the tree of choices. */
  choice: Choice | undefined;
  slot: number;
}

/** One model that reads the rows. Every row has the same slot in the caches of all. */
interface Reading {
  readonly weights: Feeds;
  cache: Cache;
  scores: ReturnType<typeof scoreArrays>;
}

/** Number of tokens of a row whose keys and values are in the cache. */
const seenTokens = (row: Row): number => row.request.prompt.length + row.action.length - 1;

/** Prefilling few prompts costs nearly as much as many: new requests wait at most this many steps to be batched … */
const patience = 8;
/** … or until this many of them wait, or a quarter as many as are running. */
const company = 8;

export function sampler(parts: SamplerParts): Sampler {
  const { config: c, programs, codec } = parts;
  const V = c.vocabulary;
  const waiting: Row[] = [];
  let rows: Row[] = [];
  let feeds = decodeFeeds(c, 0);
  const reading = (weights: Feeds): Reading => ({
    weights,
    cache: emptyCache(c),
    scores: scoreArrays(0, V),
  });
  const own = reading(parts.weights);
  /** Models that unfinished requests mix in. */
  const others = new Map<Handle, Reading>();
  /** Steps since the oldest waiting request arrived. */
  let waited = 0;

  function open(request: LocalRequest, call: Call, at: number): Row {
    const room = c.contextTokens - request.prompt.length;
    if (request.prompt.length < 1 || room < 1) {
      throw new WhetstoneError("context.tooLong", {
        where: "sample",
        got: `a prompt of ${request.prompt.length} tokens`,
        expected: `1 to ${c.contextTokens - 1}`,
        fix: "Shorten the conversation or make the model with a longer context.",
      });
    }
    requireOptions(request);
    const { prompt, allowed = [], choices = [], stopTokens = [] } = request;
    for (const ids of [prompt, ...allowed, ...choices, Int32Array.from(stopTokens)])
      requireTokens("sample", ids, V);
    if (request.mix && !others.has(request.mix.of))
      others.set(request.mix.of, reading(parts.weightsOf(request.mix.of)));
    return {
      call,
      at,
      request: { ...request, allowed: allowed.map(ascending) },
      limit: Math.min(request.maxTokens, room),
      ends: endsOf(request, codec),
      random: randomStream(request.seed),
      action: [],
      logp: [],
      behaviour: [],
      entropy: [],
      allowed: [],
      choice: request.choices && choiceTree(request.choices),
      slot: -1,
    };
  }

  function fail(row: Row, e: unknown): void {
    row.call.failed = true;
    row.call.reject(e);
  }

  /** Samples a row's next token from row r of the scores. @returns whether the row continues. */
  function advance(row: Row, r: number): boolean {
    if (row.call.failed) return false;
    const stop = nextToken(row, r);
    if (!stop) return true;
    const { call } = row;
    call.samples[row.at] = sampleOf(row, stop, parts.version);
    if (--call.left === 0) call.resolve(call.samples);
    return false;
  }

  function nextToken(row: Row, r: number): StopReason | undefined {
    const { request, action } = row;
    const allowed = row.choice?.ids ?? request.allowed?.[action.length];
    const of = scoresOf(own, r);
    const { mix } = request;
    const u = row.random.next();
    const d = mix
      ? drawMixed(of, scoresOf(others.get(mix.of)!, r), mix.share, request, allowed, u)
      : draw(of, request, allowed, u);
    action.push(d.id);
    row.logp.push(d.logp);
    row.behaviour.push(d.behaviour);
    row.entropy.push(d.entropy);
    if (allowed) row.allowed.push(allowed);
    row.choice = row.choice?.next.get(d.id);
    const stop = row.ends(action);
    if (stop) return stop;
    if (row.choice?.ids.length === 0) return "stop";
    return action.length >= row.limit ? "length" : undefined;
  }

  const scoresOf = ({ scores }: Reading, r: number) => ({
    logits_V: scores.logits.subarray(r * V, (r + 1) * V),
    p_V: scores.p.subarray(r * V, (r + 1) * V),
    entropy: scores.entropy[r]!,
  });

  /** The outputs to compute: logits only if a request needs them. */
  function wantedScores(by: Reading, of: readonly Row[], count: number) {
    if (by.scores.entropy.length !== count) by.scores = scoreArrays(count, V);
    const { logits, p, entropy } = by.scores;
    return of.some(needsLogits) ? { logits, p, entropy } : { p, entropy };
  }

  /** The models that read these rows. */
  const readersOf = (of: readonly Row[]): Reading[] => {
    const mixed = new Set(of.flatMap(({ request: { mix } }) => (mix ? [mix.of] : [])));
    return [own, ...[...mixed].map((handle) => others.get(handle)!)];
  };

  /** Whether an unfinished request mixes that model in. */
  const mixesIn = (of: Handle): boolean =>
    [...waiting, ...rows].some((row) => row.request.mix?.of === of && !row.call.failed);

  /** Makes room for these rows, including those without a slot. */
  function makeRoom(all: readonly Row[]): void {
    const slots = decodeRows(all.length);
    const places = cachePlaces(Math.max(...all.map(seenTokens)) + 1);
    const inside = new Set(all.map((row) => row.slot).filter((slot) => slot >= 0 && slot < slots));
    const free = Array.from({ length: slots }, (_, slot) => slot).filter((slot) => !inside.has(slot));
    const moves: Move[] = [];
    for (const row of all) {
      const to = row.slot >= 0 && row.slot < slots ? row.slot : free.shift()!;
      if (row.slot >= 0) moves.push({ from: row.slot, to, length: seenTokens(row) });
      row.slot = to;
    }
    for (const by of [own, ...others.values()]) {
      if (slots === by.cache.slots && places === by.cache.places) continue;
      by.cache = resized(c, by.cache, slots, places, moves);
    }
    if (feeds.tokens.length !== slots) feeds = decodeFeeds(c, slots);
  }

  /** Prefills prompts of one padded length, equal ones once, and gives their rows a first token and a slot. */
  async function read(prompts: readonly (readonly Row[])[], T: number, B: number): Promise<void> {
    const tokens = new Int32Array(B * T).fill(codec.padId);
    const last = new Int32Array(roundUp(B, rowTile));
    prompts.forEach((same, b) => {
      const { prompt } = same[0]!.request;
      tokens.set(prompt, b * T);
      last[b] = b * T + prompt.length - 1;
    });
    const size = B * c.kvHeads * T * c.headWidth;
    const session = await programs.prefill(B, T);
    const all = prompts.flat();
    const read: { by: Reading; arrays: Record<string, Float32Array> }[] = [];
    for (const by of readersOf(all)) {
      const names = Object.keys(by.cache.arrays);
      const arrays = Object.fromEntries(names.map((name) => [name, new Float32Array(size)]));
      await session.runInto(
        { ...by.weights, tokens, last },
        { ...arrays, ...wantedScores(by, all, last.length) },
      );
      read.push({ by, arrays });
    }
    const joining = prompts.flatMap((same, b) =>
      same.filter((row) => attempt(row, () => advance(row, b))).map((row) => ({ row, b })),
    );
    if (joining.length === 0) return;
    rows = [...rows, ...joining.map(({ row }) => row)];
    makeRoom(rows);
    const moves = joining.map(({ row, b }) => ({ from: b, to: row.slot, length: row.request.prompt.length }));
    for (const { by, arrays } of read) copyRows(c, { arrays, places: T }, by.cache, moves);
  }

  /** Moves waiting requests into the free slots. */
  async function admit(): Promise<void> {
    const joining = waiting.splice(0, mostRows - rows.length).filter((row) => !row.call.failed);
    waited = 0;
    try {
      const prompts = [...Map.groupBy(joining, (row) => row.request.prompt.join()).values()];
      const byLength = Map.groupBy(prompts, (same) => promptPlaces(same[0]!.request.prompt.length));
      for (const [T, all] of byLength) {
        for (let from = 0; from < all.length; ) {
          const { taken, B } = prefillRows(all.length - from, T);
          await read(all.slice(from, from + taken), T, B);
          from += taken;
        }
      }
    } catch (e) {
      for (const row of joining) fail(row, e);
      rows = rows.filter((row) => !row.call.failed);
    }
  }

  async function decode(): Promise<void> {
    makeRoom(rows);
    const { tokens, position, place } = feeds;
    // an empty slot decodes a padding token at position 0, and its output is ignored
    tokens.fill(codec.padId);
    position.fill(0);
    for (const row of rows) {
      tokens[row.slot] = row.action.at(-1)!;
      position[row.slot] = seenTokens(row);
    }
    for (let i = 0; i < place.length / 3; i++) place[3 * i + 2] = position[Math.floor(i / c.kvHeads)]!;
    const { slots, places } = own.cache;
    const session = await programs.decode(slots, places);
    for (const by of readersOf(rows)) {
      const { arrays } = by.cache;
      const next = Object.fromEntries(Object.entries(arrays).map(([name, x]) => [`${name}.next`, x]));
      await session.runInto(
        { ...by.weights, ...arrays, ...feeds },
        { ...next, ...wantedScores(by, rows, slots) },
      );
    }
    rows = rows.filter((row) => attempt(row, () => advance(row, row.slot)));
  }

  /** An error in one row rejects its call and no other. */
  function attempt(row: Row, work: () => boolean): boolean {
    try {
      return work();
    } catch (e) {
      fail(row, e);
      return false;
    }
  }

  return {
    sample: (requests) =>
      new Promise((resolve, reject) => {
        const call: Call = { samples: [], left: requests.length, resolve, reject, failed: false };
        const opened = requests.map((request, at) => open(request, call, at));
        if (opened.length === 0) resolve([]);
        waiting.push(...opened);
      }),
    get busy() {
      return rows.length > 0 || waiting.length > 0;
    },
    mixesIn,
    async step() {
      const enough = waiting.length >= Math.min(company, Math.ceil(rows.length / 4));
      if (waiting.length > 0 && rows.length < mostRows && (enough || ++waited > patience)) await admit();
      try {
        if (rows.length > 0) await decode();
      } catch (e) {
        for (const row of rows) fail(row, e);
        rows = [];
      }
      for (const of of others.keys()) if (!mixesIn(of)) others.delete(of);
    },
  };
}

function needsLogits({ request, action, choice }: Row): boolean {
  return (
    request.mix !== undefined ||
    narrows(request) ||
    choice !== undefined ||
    request.allowed?.[action.length] !== undefined
  );
}

function sampleOf(row: Row, stop: StopReason, version: string): Sample {
  const allowed: AllowedTokens = row.allowed;
  return {
    action: Int32Array.from(row.action),
    logp: Float32Array.from(row.logp),
    behaviour: Float32Array.from(row.behaviour),
    entropy: Float32Array.from(row.entropy),
    ...(allowed.length === row.action.length ? { allowed } : {}),
    stop,
    version,
  };
}

/** The ids in ascending order, each once. */
function ascending(ids: Int32Array): Int32Array {
  const sorted = ids.every((id, i) => i === 0 || ids[i - 1]! < id);
  return sorted ? ids : Int32Array.from(new Set(ids)).sort();
}

/** Buffers for the scores of R rows. */
const scoreArrays = (R: number, V: number) => ({
  logits: new Float32Array(R * V),
  p: new Float32Array(R * V),
  entropy: new Float32Array(R),
});

/** Inputs of a decoding batch beside weights and caches; its rows are filled in at each step. */
function decodeFeeds(c: DecoderConfig, slots: number) {
  const place = new Int32Array(slots * c.kvHeads * 3);
  for (let i = 0; i < slots * c.kvHeads; i++) place.set([Math.floor(i / c.kvHeads), i % c.kvHeads, 0], i * 3);
  return { tokens: new Int32Array(slots), position: new Int32Array(slots), place };
}
