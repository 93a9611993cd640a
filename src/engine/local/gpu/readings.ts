/**
 * Sampling on a GPU: caches stay there, the device draws the tokens, and reads several ahead before any come back. A row's draws
 * come from its own random stream, one uniform number for each token, so they do not depend on what is sampled beside it.
 */
import type { Codec } from "../../../core/model.ts";
import type { Gpu, GpuArray } from "../../../tensor/wgsl/device.ts";
import { fromGpu, type GpuProgram } from "../../../tensor/wgsl/program.ts";
import { decodeRows } from "../batchSizes.ts";
import { decodeGraph, drawnTokens, prefillGraph, type ReadLogits, scores } from "../cachedGraphs.ts";
import type { DecoderConfig } from "../config.ts";
import type { Drawn } from "../draw.ts";
import type { Architecture } from "../parameters.ts";
import { type Maker, ready } from "../programs.ts";
import type { Handle } from "../protocol.ts";
import { type Joining, type Readings, readersOf, seenTokens } from "../readings.ts";
import type { Row, RowScores } from "../samplingRow.ts";
import { type Cache, gpuCaches, noCache } from "./caches.ts";
import { drawing, drawnResults, noDrawing } from "./drawing.ts";
import type { Pool } from "./memory.ts";
import { moveRows } from "./moves.ts";

/** What comes back of a pass: the drawn tokens, or the scores of every token too. */
type Result = "drawn" | "scores";

/** @template S what runs a program. */
export interface SamplingPrograms<S = GpuProgram> {
  prefill(B: number, T: number, R: number, result: Result): Promise<S>;
  decode(B: number, S: number, result: Result): Promise<S>;
}

const readers: Readonly<Record<Result, ReadLogits>> = {
  drawn: drawnTokens,
  // the other rows' tokens are drawn by the device here too: whoever asks beside them does not change a bit
  scores: (logits, drawing) => ({ ...scores(logits), ...drawnTokens(logits, drawing) }),
};

/** @param decoding makes the programs of passes over few rows. */
export function samplingPrograms<S>(
  a: Architecture,
  { make, release }: Maker<S>,
  decoding: Maker<S>,
): SamplingPrograms<S> {
  const programs = ready<S>(release);
  return {
    prefill: (B, T, R, result) =>
      programs(`prefill ${B} ${T} ${R} ${result}`, () => {
        const { inputs, outputs } = prefillGraph(a, B, T, R, readers[result], "joined");
        return make(inputs, outputs);
      }),
    decode: (B, S, result) =>
      programs(`decode ${B} ${S} ${result}`, () => {
        const { inputs, outputs } = decodeGraph(a, B, S, readers[result], "joined");
        const updates = Object.keys(outputs).filter((name) => name.endsWith(".next"));
        return decoding.make(
          inputs,
          outputs,
          Object.fromEntries(updates.map((name) => [name, name.replace(/\.next$/, "")])),
        );
      }),
  };
}

export interface GpuReadingParts {
  readonly config: DecoderConfig;
  readonly gpu: Gpu;
  readonly programs: SamplingPrograms;
  readonly weights: Readonly<Record<string, GpuArray>>;
  readonly weightsOf: (of: Handle) => Readonly<Record<string, GpuArray>>;
  readonly codec: Pick<Codec, "padId">;
  /** For caches. */
  readonly pool: Pool;
}

/** One model that reads the rows. */
interface Reading {
  readonly weights: Readonly<Record<string, GpuArray>>;
  cache: Cache;
  /** Row-major scores of the last pass that brought them back. */
  logits: Float32Array;
  p: Float32Array;
  entropy: Float32Array;
}

/** Tokens that are drawn before any come back. */
const mostAhead = 8;

/** Whether the device cannot draw a row's next token. */
const needsScores = ({ request, action, choice }: Row): boolean =>
  request.mix !== undefined ||
  request.topK !== undefined ||
  request.topP !== undefined ||
  request.minP !== undefined ||
  choice !== undefined ||
  request.allowed?.[action.length] !== undefined;

/** The rows by slot. */
function inSlots(rows: readonly Row[], slots: number): (Row | undefined)[] {
  const bySlot = new Array<Row | undefined>(slots).fill(undefined);
  for (const row of rows) bySlot[row.slot] = row;
  return bySlot;
}

const lastTokens = (bySlot: readonly (Row | undefined)[], padId: number): Int32Array =>
  Int32Array.from(bySlot, (row) => row?.action.at(-1) ?? padId);

/**
 * The positions of a pass's tokens, and where their keys and values go. A row that ends before the passes drawn ahead do stays at its
 * cache's last place, which nobody reads any more.
 * @param further passes after the one that was read.
 */
function positions(
  c: DecoderConfig,
  rows: readonly Row[],
  { slots, places }: Pick<Cache, "slots" | "places">,
  further: number,
) {
  const position = new Int32Array(slots);
  for (const row of rows) position[row.slot] = Math.min(seenTokens(row) + further, places - 1);
  const place = new Int32Array(slots * c.kvHeads * 3);
  for (let i = 0; i < slots * c.kvHeads; i++) {
    const slot = Math.floor(i / c.kvHeads);
    place.set([slot, i % c.kvHeads, position[slot]!], i * 3);
  }
  return { position, place };
}

const nothing = new Float32Array();
const reading = (weights: Readonly<Record<string, GpuArray>>): Reading => ({
  weights,
  cache: noCache,
  logits: nothing,
  p: nothing,
  entropy: nothing,
});

async function bringScores(gpu: Gpu, by: Reading, out: Readonly<Record<string, GpuArray>>): Promise<void> {
  by.logits = (await fromGpu(gpu, out.logits!)) as Float32Array;
  by.p = (await fromGpu(gpu, out.p!)) as Float32Array;
  by.entropy = (await fromGpu(gpu, out.entropy!)) as Float32Array;
}

const scoresAt = (by: Reading, r: number, V: number) => ({
  logits_V: by.logits.subarray(r * V, (r + 1) * V),
  p_V: by.p.subarray(r * V, (r + 1) * V),
  entropy: by.entropy[r]!,
});

/** Prompts of one padded length, equal ones once, and the position after which each row draws. */
function promptFeeds(
  prompts: readonly (readonly Row[])[],
  [B, T, R]: readonly [number, number, number],
  padId: number,
) {
  const tokens = new Int32Array(B * T).fill(padId);
  const last = new Int32Array(R);
  const rowOf = new Map<Row, number>();
  prompts.forEach((same, b) => {
    const { prompt } = same[0]!.request;
    tokens.set(prompt, b * T);
    for (const row of same) {
      last[rowOf.size] = b * T + prompt.length - 1;
      rowOf.set(row, rowOf.size);
    }
  });
  return { tokens, last, rowOf };
}

/** From the places of prompts to the slots of their rows. */
const movesOf = (joining: readonly Joining[]) =>
  joining.map(({ row, b }) => ({ from: b, to: row.slot, length: row.request.prompt.length }));

/** Passes until the last of these rows is at its limit, of which some may end before. */
const passesAhead = (rows: readonly Row[]): number =>
  Math.max(1, Math.min(mostAhead, Math.max(...rows.map((row) => row.limit - row.action.length))));

export function gpuReadings(parts: GpuReadingParts): Readings {
  const { config: c, gpu, programs, weights, weightsOf, codec, pool } = parts;
  const V = c.vocabulary;
  const own = reading(weights);
  const others = new Map<Handle, Reading>();
  /** Tokens of the next passes by slot, the next one first. */
  let drawnAhead: Drawn[][] = [];
  /** Tokens of the last pass, by row of the scores; and whose row each is, after a prefill. */
  let drawn: readonly Drawn[] = [];
  let prefilled: ReadonlyMap<Row, number> = new Map();
  const results = drawnResults(gpu);
  const caches = gpuCaches(gpu, c, pool);

  /** Several passes, each reading what the one before drew, before any token comes back. */
  async function decodeAhead(rows: readonly Row[], passes: number): Promise<void> {
    const { slots, places, arrays } = own.cache;
    const bySlot = inSlots(rows, slots);
    const program = await programs.decode(slots, places, "drawn");
    let tokens: GpuArray | Int32Array = lastTokens(bySlot, codec.padId);
    for (let pass = 0; pass < passes; pass++) {
      const out = program.run({
        ...own.weights,
        ...arrays,
        ...positions(c, rows, own.cache, pass),
        ...drawing(bySlot),
        tokens,
      });
      results.collect(out, slots, pass, passes);
      tokens = out.ids!;
    }
    drawnAhead = await results.read(bySlot, passes);
  }

  /** One pass whose scores come back, for rows whose tokens the host draws. */
  async function decodeScores(rows: readonly Row[]): Promise<void> {
    const { slots, places } = own.cache;
    const bySlot = inSlots(rows, slots);
    const tokens = lastTokens(bySlot, codec.padId);
    const program = await programs.decode(slots, places, "scores");
    const plain = bySlot.map((row) => (row && !needsScores(row) ? row : undefined));
    const given = { ...positions(c, rows, own.cache, 0), tokens };
    for (const by of readersOf(rows, own, others)) {
      const draws = by === own ? drawing(plain) : noDrawing(slots);
      const out = program.run({ ...by.weights, ...by.cache.arrays, ...given, ...draws });
      if (by === own) {
        results.collect(out, slots, 0, 1);
        [drawn = []] = await results.read(plain, 1);
      }
      await bringScores(gpu, by, out);
    }
  }

  return {
    pieces: undefined,
    get ahead() {
      return drawnAhead.length > 0;
    },
    mixIn(of) {
      if (!others.has(of)) others.set(of, reading(weightsOf(of)));
    },
    keep(isUsed) {
      for (const [of, by] of others) {
        if (isUsed(of)) continue;
        caches.drop(by.cache);
        others.delete(of);
      }
    },
    scoresOf(row, r): RowScores {
      const at = prefilled.get(row) ?? r;
      if (!needsScores(row)) return { drawn: drawn[at]! };
      const { mix } = row.request;
      return { own: scoresAt(own, at, V), mixed: mix && scoresAt(others.get(mix.of)!, at, V) };
    },
    async prefill(prompts, T, B) {
      drawnAhead = [];
      const all = prompts.flat();
      const R = decodeRows(all.length);
      const result = all.some(needsScores) ? "scores" : "drawn";
      const program = await programs.prefill(B, T, R, result);
      const { tokens, last, rowOf } = promptFeeds(prompts, [B, T, R], codec.padId);
      const plain = all.map((row) => (needsScores(row) ? undefined : row));
      const padded = Array.from({ length: R }, (_, r) => plain[r]);
      const read: { by: Reading; cache: Cache }[] = [];
      const drop = (): void => read.splice(0).forEach(({ cache }) => void caches.drop(cache));
      try {
        for (const by of readersOf(all, own, others)) {
          const cache = caches.make(B, T);
          read.push({ by, cache });
          const draws = by === own ? drawing(padded) : noDrawing(R);
          const out = program.run({ ...by.weights, tokens, last, ...draws }, cache.arrays);
          if (by === own) {
            results.collect(out, R, 0, 1);
            [drawn = []] = await results.read(padded, 1);
          }
          if (result === "scores") await bringScores(gpu, by, out);
        }
      } catch (e) {
        drop();
        throw e;
      }
      prefilled = rowOf;
      return async (rows: readonly Row[], joining: readonly Joining[]) => {
        try {
          if (joining.length === 0) return;
          await caches.makeRoom([own, ...others.values()], rows, mostAhead);
          const moves = movesOf(joining);
          for (const { by, cache } of read) await moveRows(gpu, c, cache, by.cache, moves);
        } finally {
          drop();
        }
      };
    },
    async decode(rows) {
      prefilled = new Map();
      if (drawnAhead.length === 0) {
        if (rows.some(needsScores)) {
          await caches.makeRoom([own, ...others.values()], rows, 1);
          await decodeScores(rows);
          return;
        }
        const passes = passesAhead(rows);
        await caches.makeRoom([own, ...others.values()], rows, passes);
        await decodeAhead(rows, passes);
      }
      drawn = drawnAhead.shift() ?? [];
    },
    keepPrefix() {},
    close() {
      for (const by of [own, ...others.values()]) caches.drop(by.cache);
      results.release();
    },
  };
}
