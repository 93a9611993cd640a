/** The models that read the rows which are sampled together: the sampling one, and those that requests mix in. */
import type { Codec } from "../../core/model.ts";
import { cachePlaces, cpuDecodeRows, piecePlaces, scoredRows, servingPlaces } from "./batchSizes.ts";
import { type Cache, copyRows, type Move, newCache, resized } from "./cache.ts";
import type { DecoderConfig } from "./config.ts";
import { narrows } from "./draw.ts";
import type { Programs } from "./onnxPrograms.ts";
import type { PrefixCache } from "./prefixCache.ts";
import type { Handle } from "./protocol.ts";
import type { Row, RowScores } from "./samplingRow.ts";

export type Feeds = Readonly<Record<string, Float32Array>>;

export interface ReadingParts {
  readonly config: DecoderConfig;
  readonly programs: Programs;
  /** As `feedsOf` returns them. They must not change while rows are read. */
  readonly weights: Feeds;
  /** The weights of a model that requests mix in, of the same architecture. They must not change either. */
  readonly weightsOf: (of: Handle) => Feeds;
  readonly codec: Pick<Codec, "padId">;
  /** What is known of earlier prompts, by these weights. */
  readonly prefixes: PrefixCache | undefined;
}

/** One model that reads the rows. Every row has the same slot in the caches of all. */
interface Reading {
  readonly weights: Feeds;
  cache: Cache;
  scores: ReturnType<typeof scoreArrays>;
}

/** A row after its prompt was prefilled. */
export interface Joining {
  readonly row: Row;
  /** Index of its prompt among those prefilled. */
  readonly b: number;
}

/** A prompt that is read piece by piece, for the rows that continue it. */
export interface PromptInPieces {
  rows: readonly Row[];
  readonly tokens: Int32Array;
  /** One slot. */
  readonly cache: Cache;
  /** Number of tokens whose keys and values are in the cache. */
  seen: number;
}

export interface PieceReadings {
  /** A prompt to read by the sampling model alone. */
  open(rows: readonly Row[]): PromptInPieces;
  /** Reads the next piece. Row 0 of the scores belongs to its last token. */
  read(prompt: PromptInPieces): Promise<void>;
  /** Gives rows that continue a prompt their slots among all rows. */
  join(rows: readonly Row[], joining: readonly Row[], prompt: PromptInPieces): void;
}

export interface Readings {
  /** Reads with this model too, from now on. */
  mixIn(of: Handle): void;
  /** Drops the models that are mixed in and not used. */
  keep(isUsed: (of: Handle) => boolean): void;
  /** Row r of the scores of the last pass. */
  scoresOf(row: Row, r: number): RowScores;
  /**
   * Reads prompts of one padded length T in B rows, equal ones once. Forgets tokens that were drawn ahead: none of their rows may go on.
   * @returns a function to call once, which gives rows their slots among all rows, and the slots what was read; none may join.
   */
  prefill(
    prompts: readonly (readonly Row[])[],
    T: number,
    B: number,
  ): Promise<(rows: readonly Row[], joining: readonly Joining[]) => void | Promise<void>>;
  /** Reads each row's last token; row r of the scores belongs to slot r. */
  decode(rows: readonly Row[]): Promise<void>;
  /** If set, prompts are read in pieces, after what earlier ones have in common with them. */
  readonly pieces: PieceReadings | undefined;
  /** Whether tokens of the next passes are already known; until they are taken or all of their rows have ended, no row may join. */
  readonly ahead: boolean;
  /** Keeps what was read of a row that ends. */
  keepPrefix(row: Row): void;
  /** Gives back the memory of the caches. */
  close(): void;
}

/** Number of tokens of a row whose keys and values are in the cache. */
export const seenTokens = (row: Row): number => row.request.prompt.length + row.action.length - 1;

/** Gives each row one of so many slots; a row that has one keeps it where it can. @returns the moves of rows that had one. */
export function giveSlots(rows: readonly Row[], slots: number): Move[] {
  const inside = new Set(rows.map((row) => row.slot).filter((slot) => slot >= 0 && slot < slots));
  const free = Array.from({ length: slots }, (_, slot) => slot).filter((slot) => !inside.has(slot));
  const moves: Move[] = [];
  for (const row of rows) {
    const to = row.slot >= 0 && row.slot < slots ? row.slot : free.shift()!;
    if (row.slot >= 0) moves.push({ from: row.slot, to, length: seenTokens(row) });
    row.slot = to;
  }
  return moves;
}

/** The models that read these rows: the sampling one, and those that rows mix in. */
export function readersOf<R>(rows: readonly Row[], own: R, others: ReadonlyMap<Handle, R>): R[] {
  const mixed = new Set(rows.flatMap(({ request: { mix } }) => (mix ? [mix.of] : [])));
  return [own, ...[...mixed].map((handle) => others.get(handle)!)];
}

export function readings(parts: ReadingParts): Readings {
  const { config: c, programs, weights, weightsOf, codec, prefixes } = parts;
  const placesOf = prefixes ? servingPlaces : cachePlaces;
  const V = c.vocabulary;
  const reading = (weights: Feeds): Reading => ({
    weights,
    cache: newCache(c, 0, 0),
    scores: scoreArrays(0, V),
  });
  const own = reading(weights);
  const others = new Map<Handle, Reading>();
  let feeds = decodeFeeds(c, 0);

  /** Makes room for these rows, including those without a slot. */
  function makeRoom(all: readonly Row[]): void {
    const slots = cpuDecodeRows(all.length);
    const places = placesOf(Math.max(...all.map(seenTokens)) + 1);
    const moves = giveSlots(all, slots);
    for (const by of [own, ...others.values()]) {
      if (slots === by.cache.slots && places === by.cache.places) continue;
      by.cache = resized(c, by.cache, slots, places, moves);
    }
    if (feeds.tokens.length !== slots) feeds = decodeFeeds(c, slots);
  }

  const inPieces = (prefixes: PrefixCache): PieceReadings => ({
    open(rows) {
      const tokens = rows[0]!.request.prompt;
      return { rows, tokens, cache: newCache(c, 1, placesOf(tokens.length)), seen: 0 };
    },
    async read(prompt) {
      const { rows, tokens, cache } = prompt;
      const from = prefixes.restore(tokens, prompt.seen, cache, 0);
      for (const row of rows) row.reused += from - prompt.seen;
      const T = piecePlaces(tokens.length - from);
      prompt.seen = Math.min(tokens.length, from + T);
      const session = await programs.piece(T, cache.places);
      await session.runInto(
        {
          ...own.weights,
          ...cache.arrays,
          ...pieceFeeds(c, tokens.subarray(from, from + T), from, T, codec.padId),
        },
        { ...inPlace(cache), ...wantedScores(own, rows, scoredRows(1), V) },
      );
      prefixes.keep(tokens.subarray(0, prompt.seen), cache, 0);
    },
    join(rows, joining, { cache, tokens }) {
      makeRoom(rows);
      const moves = joining.map(({ slot }) => ({ from: 0, to: slot, length: tokens.length }));
      copyRows(c, cache, own.cache, moves);
    },
  });

  return {
    mixIn(of) {
      if (!others.has(of)) others.set(of, reading(weightsOf(of)));
    },
    keep(isUsed) {
      for (const of of others.keys()) if (!isUsed(of)) others.delete(of);
    },
    scoresOf({ request: { mix } }, r) {
      return { own: scoresAt(own, r, V), mixed: mix && scoresAt(others.get(mix.of)!, r, V) };
    },
    async prefill(prompts, T, B) {
      const all = prompts.flat();
      const inputs = prefillFeeds(prompts, T, B, codec.padId);
      const size = B * c.kvHeads * T * c.headWidth;
      const session = await programs.prefill(B, T);
      const read: { by: Reading; arrays: Record<string, Float32Array> }[] = [];
      for (const by of readersOf(all, own, others)) {
        const names = Object.keys(by.cache.arrays);
        const arrays = Object.fromEntries(names.map((name) => [name, new Float32Array(size)]));
        await session.runInto(
          { ...by.weights, ...inputs },
          { ...arrays, ...wantedScores(by, all, inputs.last.length, V) },
        );
        read.push({ by, arrays });
      }
      return (rows, joining) => {
        if (joining.length === 0) return;
        makeRoom(rows);
        const moves = joining.map(({ row, b }) => {
          return { from: b, to: row.slot, length: row.request.prompt.length };
        });
        for (const { by, arrays } of read) copyRows(c, { arrays, places: T }, by.cache, moves);
      };
    },
    async decode(rows) {
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
      for (const by of readersOf(rows, own, others)) {
        await session.runInto(
          { ...by.weights, ...by.cache.arrays, ...feeds },
          { ...inPlace(by.cache), ...wantedScores(by, rows, slots, V) },
        );
      }
    },
    ahead: false,
    pieces: prefixes && inPieces(prefixes),
    keepPrefix(row) {
      const { prompt } = row.request;
      const tokens = Int32Array.from([...prompt, ...row.action]);
      prefixes?.keep(tokens.subarray(0, seenTokens(row)), own.cache, row.slot);
    },
    close() {},
  };
}

const scoresAt = ({ scores }: Reading, r: number, V: number) => ({
  logits_V: scores.logits.subarray(r * V, (r + 1) * V),
  p_V: scores.p.subarray(r * V, (r + 1) * V),
  entropy: scores.entropy[r]!,
});

/** The outputs to compute: logits only if a request needs them. */
function wantedScores(by: Reading, of: readonly Row[], count: number, V: number) {
  if (by.scores.entropy.length !== count) by.scores = scoreArrays(count, V);
  const { logits, p, entropy } = by.scores;
  return of.some(needsLogits) ? { logits, p, entropy } : { p, entropy };
}

export function needsLogits({ request, action, choice }: Row): boolean {
  return (
    request.mix !== undefined ||
    narrows(request) ||
    choice !== undefined ||
    request.allowed?.[action.length] !== undefined
  );
}

/** Buffers for the scores of R rows. */
const scoreArrays = (R: number, V: number) => ({
  logits: new Float32Array(R * V),
  p: new Float32Array(R * V),
  entropy: new Float32Array(R),
});

/** Inputs of a prefill beside the weights: padded prompts, and where each ends. */
function prefillFeeds(prompts: readonly (readonly Row[])[], T: number, B: number, padId: number) {
  const tokens = new Int32Array(B * T).fill(padId);
  const last = new Int32Array(scoredRows(B));
  prompts.forEach((same, b) => {
    const { prompt } = same[0]!.request;
    tokens.set(prompt, b * T);
    last[b] = b * T + prompt.length - 1;
  });
  return { tokens, last };
}

/** The outputs of a pass that go where its caches came from. */
const inPlace = ({ arrays }: Cache): Feeds =>
  Object.fromEntries(Object.entries(arrays).map(([name, x]) => [`${name}.next`, x]));

/** Inputs of a pass over the next tokens of a prompt beside weights and caches. @param from position of the first. */
function pieceFeeds(c: DecoderConfig, tokens: Int32Array, from: number, T: number, padId: number) {
  const padded = new Int32Array(T).fill(padId);
  padded.set(tokens);
  const place = new Int32Array(c.kvHeads * T * 3);
  for (let i = 0; i < c.kvHeads * T; i++) place.set([0, Math.floor(i / T), from + (i % T)], i * 3);
  return {
    tokens: padded,
    position: Int32Array.from({ length: T }, (_, t) => from + t),
    place,
    last: new Int32Array(scoredRows(1)).fill(tokens.length - 1),
  };
}

/** Inputs of a decoding batch beside weights and caches; its rows are filled in at each step. */
function decodeFeeds(c: DecoderConfig, slots: number) {
  const place = new Int32Array(slots * c.kvHeads * 3);
  for (let i = 0; i < slots * c.kvHeads; i++) place.set([Math.floor(i / c.kvHeads), i % c.kvHeads, 0], i * 3);
  return { tokens: new Int32Array(slots), position: new Int32Array(slots), place };
}
