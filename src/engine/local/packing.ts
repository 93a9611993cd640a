/**
 * Packs a batch into sequences of a few fixed shapes. Rows stand one after the other in a sequence, and rows with a
 * common prefix share it, so that a group's prompt is computed once, forwards and backwards.
 */
import type { TokenRows } from "../../core/batch.ts";
import type { DecoderConfig } from "./config.ts";
import type { Device } from "./devices.ts";
import type { Architecture } from "./parameters.ts";
import type { PackedRows } from "./protocol.ts";

/** How sizes are rounded up, so that few programs are made. */
export interface Grid {
  /** The length of a sequence. */
  readonly length: (n: number) => number;
  /** Numbers of sequences and targets are multiples of this part of the next power of two. */
  readonly part: number;
}

const roundUp = (n: number, step: number): number => Math.ceil(n / step) * step;

const fineGrid: Grid = {
  length: (n) => roundUp(n, n <= 128 ? 16 : n <= 256 ? 32 : n <= 1024 ? 64 : 256),
  part: 1 / 16,
};
/** A GPU computes padding fast, and a second is lost for each program. */
const coarseGrid: Grid = { length: (n) => roundUp(n, n <= 256 ? 64 : 256), part: 1 / 2 };

export const gridOf = (device: Device): Grid => (device === "gpu" ? coarseGrid : fineGrid);

/** Longest packed sequence, unless a single row is longer. */
const longestPack = 512;

const lengthOf = (rows: TokenRows, r: number): number => rows.rowOffset[r + 1]! - rows.rowOffset[r]!;

/**
 * How many tokens at the start of a row another row may share. Excludes the token before the first target, because each
 * target is predicted from a position of its own.
 */
function shareable(rows: TokenRows, r: number): number {
  const [from, to] = [rows.targetOffset[r]!, rows.targetOffset[r + 1]!];
  return from === to ? lengthOf(rows, r) : Math.max(0, rows.target_A[from]! - rows.rowOffset[r]! - 1);
}

/** Rows in lexical order, and what neighbours have in common. Found once for a plan; each part of it reads this. */
interface Prefixes {
  /** Place of each row in the order; -1 for a row that was not picked. */
  readonly rank: Int32Array;
  /** For each place: the number of tokens that its row has in common with the row before it. */
  readonly common: Int32Array;
}

/** Number of tokens that two rows have in common from their start. */
function commonStart(rows: TokenRows, a: number, b: number): number {
  const [x, y] = [rows.rowOffset[a]!, rows.rowOffset[b]!];
  const shorter = Math.min(lengthOf(rows, a), lengthOf(rows, b));
  let n = 0;
  while (n < shorter && rows.tokens_N[x + n] === rows.tokens_N[y + n]) n++;
  return n;
}

function compareRows(rows: TokenRows, a: number, b: number): number {
  const n = commonStart(rows, a, b);
  if (n === Math.min(lengthOf(rows, a), lengthOf(rows, b)))
    return lengthOf(rows, a) - lengthOf(rows, b) || a - b;
  return rows.tokens_N[rows.rowOffset[a]! + n]! - rows.tokens_N[rows.rowOffset[b]! + n]!;
}

function prefixesOf(rows: TokenRows, picked: readonly number[]): Prefixes {
  const order = picked.toSorted((a, b) => compareRows(rows, a, b));
  const rank = new Int32Array(rows.rowOffset.length - 1).fill(-1);
  order.forEach((row, i) => {
    rank[row] = i;
  });
  const common = Int32Array.from(order, (row, i) => (i === 0 ? 0 : commonStart(rows, order[i - 1]!, row)));
  return { rank, common };
}

/** A row in its sequence, with the number of tokens that it shares with the row before it. */
interface Placed {
  readonly row: number;
  readonly shared: number;
}

interface Sequence {
  readonly placed: Placed[];
  used: number;
}

/**
 * Sorts rows so that those with a common prefix are neighbours, with the tokens that each shares with the one before: what
 * all rows between them in the order have in common, as far as both may share it.
 */
function inOrder(rows: TokenRows, { rank, common }: Prefixes, picked: readonly number[]): Placed[] {
  const order = picked.toSorted((a, b) => rank[a]! - rank[b]!);
  return order.map((row, i) => {
    if (i === 0) return { row, shared: 0 };
    const before = order[i - 1]!;
    let shared = Math.min(shareable(rows, before), shareable(rows, row));
    for (let at = rank[before]! + 1; at <= rank[row]!; at++) shared = Math.min(shared, common[at]!);
    return { row, shared };
  });
}

/** Best-fit decreasing packing into sequences of at most T tokens: families with a common prefix first, then by size. */
function fill(rows: TokenRows, ordered: readonly Placed[], T: number): Sequence[] {
  const families: Sequence[] = [];
  for (const { row, shared } of ordered) {
    const family = families.at(-1);
    const more = lengthOf(rows, row) - shared;
    if (family && shared > 0 && family.used + more <= T) {
      family.placed.push({ row, shared });
      family.used += more;
    } else families.push({ placed: [{ row, shared: 0 }], used: lengthOf(rows, row) });
  }
  const out: Sequence[] = [];
  for (const family of families.sort((a, b) => b.used - a.used)) {
    let best: Sequence | undefined;
    for (const sequence of out) {
      if (sequence.used + family.used <= T && (!best || sequence.used > best.used)) best = sequence;
    }
    if (!best) out.push(family);
    else {
      best.placed.push(...family.placed);
      best.used += family.used;
    }
  }
  return out;
}

/** Multiply-adds of one more position in a forward pass: the products with weights, and attention over T positions. */
function placeCost(c: DecoderConfig, T: number): number {
  const q = c.heads * c.headWidth;
  const kv = c.kvHeads * c.headWidth;
  const weights = c.width * (2 * q + 2 * kv + 3 * c.feedForward);
  // small products and the softmax between them are about three times as slow as large ones
  return c.layers * (weights + 3 * 2 * T * q);
}

/** Number of positions at which the products of small and medium models run fastest. */
const fastestPlaces = 2048;
/** The same on a GPU, which takes more at once. */
const fastestOnGpu = 8192;

/**
 * Bytes of a position's activations, about: what each layer keeps for the backward pass, including attention weights, and
 * the logits over the vocabulary.
 * @param seen tokens of its sequence.
 */
export function activationBytes(c: DecoderConfig, seen: number): number {
  const q = c.heads * c.headWidth;
  const kv = c.kvHeads * c.headWidth;
  const layer = 5 * c.width + 3 * q + 3 * kv + 5 * c.feedForward + c.heads * seen;
  return 4 * (c.layers * layer + 3 * c.vocabulary);
}

/** Positions of a micro-batch whose activations take about this many bytes. */
export function placesFor({ config: c }: Architecture, bytes: number, device: Device = "cpu"): number {
  const each = activationBytes(c, Math.min(longestPack, c.contextTokens));
  return Math.max(64, Math.min(device === "gpu" ? fastestOnGpu : fastestPlaces, Math.floor(bytes / each)));
}

/**
 * Sizes of the largest micro-batches on a GPU, every position a target: of sequences of the length that takes most, since numbers of
 * sequences are rounded up, and of the longest rows where these are longer than a packed sequence.
 * @param places positions of a micro-batch. @param tokens of the longest row.
 */
export function largestShapes(
  c: DecoderConfig,
  { places, tokens }: { readonly places: number; readonly tokens: number },
) {
  const { length, part } = coarseGrid;
  const shapeOf = (T: number) => {
    const B = coarse(Math.max(1, Math.floor(places / T)), 1, part);
    return { B, T, A: B * T };
  };
  const longest = length(tokens);
  const lengths = new Set(Array.from({ length: Math.min(longest, longestPack) }, (_, i) => length(i + 1)));
  const taken = ({ B, T }: { readonly B: number; readonly T: number }): number =>
    B * T * activationBytes(c, Math.min(T, longestPack));
  const packed = [...lengths].map(shapeOf).reduce((a, b) => (taken(b) > taken(a) ? b : a));
  return longest > longestPack ? [packed, shapeOf(longest)] : [packed];
}

export interface MicroBatch {
  /** In the order in which they are packed. */
  readonly rows: readonly number[];
  /** For each row of each sequence: the number of tokens shared with the row before. */
  readonly shared: readonly (readonly number[])[];
  /** Tokens of the longest sequence. */
  readonly longest: number;
}

const microBatch = (sequences: readonly Sequence[]): MicroBatch => ({
  rows: sequences.flatMap(({ placed }) => placed.map(({ row }) => row)),
  shared: sequences.map(({ placed }) => placed.map(({ shared }) => shared)),
  longest: Math.max(...sequences.map(({ used }) => used)),
});

/**
 * Cuts rows into micro-batches. Groups stay whole; a micro-batch holds at most `places` positions, padding included,
 * unless one group alone needs more.
 * @param groups rows that must stay together.
 */
export function planMicroBatches(
  rows: TokenRows,
  groups: readonly (readonly number[])[],
  c: DecoderConfig,
  places: number,
  { length: bucket }: Grid = fineGrid,
): MicroBatch[] {
  const picked = groups.flat();
  if (picked.length === 0) return [];
  const prefixes = prefixesOf(rows, picked);
  const ordered = inOrder(rows, prefixes, picked);
  const shortest = bucket(picked.reduce((n, r) => Math.max(n, lengthOf(rows, r)), 0));
  const longest = Math.max(shortest, Math.min(longestPack, places));
  let T = shortest;
  let least = Number.POSITIVE_INFINITY;
  for (let candidate = shortest; candidate <= longest; candidate = bucket(candidate + 1)) {
    const cost = fill(rows, ordered, candidate).length * candidate * placeCost(c, candidate);
    if (cost < least) [T, least] = [candidate, cost];
  }
  const atOnce = Math.max(1, Math.floor(places / T));
  if (groups.length === picked.length) {
    const all = fill(rows, ordered, T);
    const parts = Math.ceil(all.length / atOnce);
    return Array.from({ length: parts }, (_, i) => microBatch(all.slice(i * atOnce, (i + 1) * atOnce)));
  }
  const out: MicroBatch[] = [];
  let open: number[] = [];
  let sequences: Sequence[] = [];
  for (const group of groups) {
    const wider = fill(rows, inOrder(rows, prefixes, [...open, ...group]), T);
    if (open.length > 0 && wider.length > atOnce) {
      out.push(microBatch(sequences));
      open = [...group];
      sequences = fill(rows, inOrder(rows, prefixes, open), T);
    } else {
      open.push(...group);
      sequences = wider;
    }
  }
  return [...out, microBatch(sequences)];
}

/** Rounds to few distinct sizes: steps of a part of the next power of two. */
const coarse = (n: number, least: number, part: number): number =>
  roundUp(n, Math.max(least, 2 ** Math.ceil(Math.log2(n)) * part));

/** @param rows of the micro-batch, in its order. Targets keep their order. */
export function packRows(
  rows: TokenRows,
  { shared, longest }: Omit<MicroBatch, "rows">,
  padId: number,
  grid: Grid = fineGrid,
): PackedRows {
  const T = grid.length(longest);
  const B = coarse(shared.length, 1, grid.part);
  const real = rows.target_A.length;
  const A = Math.min(B * T, Math.max(coarse(real, 16, grid.part), Math.ceil((B * T) / 16)));
  const tokens = new Int32Array(B * T).fill(padId);
  const position = new Int32Array(B * T);
  const end = Int32Array.from({ length: B * T }, (_, i) => i % T);
  const context = new Int32Array(A);
  const back = new Int32Array(B * T).fill(A);
  const targets = new Int32Array(A);
  let row = 0;
  shared.forEach((sequence, b) => {
    let filled = 0;
    let path: number[] = [];
    for (const taken of sequence) {
      path = path.slice(0, taken);
      const from = rows.rowOffset[row]!;
      for (let i = taken; i < lengthOf(rows, row); i++) {
        path.push(b * T + filled++);
        tokens[path[i]!] = rows.tokens_N[from + i]!;
        position[path[i]!] = i;
      }
      for (const place of path) end[place] = filled - 1;
      for (let a = rows.targetOffset[row]!; a < rows.targetOffset[row + 1]!; a++) {
        const place = path[rows.target_A[a]! - from - 1]!;
        context[a] = place;
        back[place] = a;
        targets[a] = rows.tokens_N[rows.target_A[a]!]!;
      }
      row++;
    }
  });
  return { B, T, A, tokens, position, end, context, back, targets };
}
