/** The weights of a tabular model, and the distributions that they define. */
import { rowCount, type TokenRows } from "../../core/batch.ts";
import { WhetstoneError } from "../../core/errors.ts";
import type { Outputs, Wanted } from "../../core/outputs.ts";
import type { WordCodec } from "./codec.ts";
import { type Reading, splitPrefix } from "./reading.ts";
import { entropyOf, logSoftmax, topIndices } from "./softmax.ts";
import { type Beginning, copyTable, newTable, type Table } from "./table.ts";

export const weightsName = "weights";

/** The part of a prefix that is the context: its last N tokens, or the last message and the reply so far. */
export type ContextRule = number | "message";

/** Initial logit of a word ("<end>" for the end) after a context given in words. */
export type Prior = (context: readonly string[], word: string) => number;

/**
 * Features that a context, given in words, shares with others. Its logits are the prior plus the sum of its features'
 * rows, instead of one row of its own: a linear policy, which generalises.
 */
export type Features = (context: readonly string[]) => readonly string[];

/** Logits over writable tokens by context, and one table per value head. */
export interface Weights {
  readonly codec: WordCodec;
  /** Infinity for the whole prefix. */
  readonly context: ContextRule;
  readonly prior: Prior | undefined;
  readonly reading: Reading | undefined;
  readonly features: Features | undefined;
  /** Number of writable tokens. */
  readonly width: number;
  readonly parts: Map<string, Table>;
  /** The table of that name, created if it is new. */
  part(name: string): Table;
  /** The context of a prefix, with the effect of the messages that are read, if any. */
  situationOf(prefix: Int32Array): Situation;
  /** A row, or its initial values. Adds no row. */
  read(part: string, row: string): Float64Array;
  /** The policy's distribution in a situation; cached until the weights change. */
  distribution(situation: Situation): Distribution;
  /** Call it whenever the weights have changed. */
  changed(): void;
}

/** The situation in which a token is chosen. */
export interface Situation {
  /** Keys of the rows to sum: the context's own, or one per feature. */
  readonly rows: readonly string[];
  /** Equal keys mean equal distributions. */
  readonly key: string;
  /** Added to the logits of the writable tokens, [W]. */
  shift?(): Float64Array;
}

/** Distribution of the next token, over the W writable ones. Read-only. */
export interface Distribution {
  readonly logits_W: Float64Array;
  readonly logp_W: Float64Array;
  /** Nats. */
  readonly entropy: number;
}

/** New weights without contexts, or those of `parts`. */
export function newWeights(
  codec: WordCodec,
  context: ContextRule,
  prior?: Prior,
  parts: Map<string, Table> = new Map(),
  reading?: Reading,
  features?: Features,
): Weights {
  const width = codec.vocabulary - codec.writable;
  const wordsIn = (key: string): string[] =>
    key === "" ? [] : key.split(" ").map((id) => codec.nameOf(Number(id)));
  const priorOf = (key: string): Float64Array => {
    const words = wordsIn(key);
    return Float64Array.from(
      { length: width },
      (_, w) => prior?.(words, codec.nameOf(codec.writable + w)) ?? 0,
    );
  };
  const beginning: Beginning | undefined =
    prior && !features ? { array: weightsName, of: priorOf } : undefined;
  const said = new Map<string, Distribution>();
  const part = (name: string): Table => {
    let table = parts.get(name);
    if (!table) {
      table = name === "logits" ? newTable(width, beginning) : newTable(1);
      parts.set(name, table);
    }
    return table;
  };
  const read: Weights["read"] = (name, key) => {
    const table = part(name);
    const row = table.rows.get(key);
    if (row === undefined)
      return Float64Array.from(table.beginning?.of(key) ?? new Float64Array(table.width));
    return table.array(weightsName).subarray(row * table.width, (row + 1) * table.width);
  };
  const keyOf = (prefix: Int32Array): string => {
    const kept = context === "message" ? prefix.length - codec.lastMessage(prefix) : context;
    return (kept < prefix.length ? prefix.subarray(prefix.length - kept) : prefix).join(" ");
  };
  const untold = new Map<string, Situation>();
  const situationAt = (context: string): Situation => {
    const known = untold.get(context);
    if (known) return known;
    if (!features) return { rows: [context], key: context };
    const prior_W = prior && priorOf(context);
    const made = { rows: features(wordsIn(context)), key: context, ...(prior_W && { shift: () => prior_W }) };
    untold.set(context, made);
    return made;
  };
  return {
    codec,
    context,
    prior,
    reading,
    features,
    width,
    parts,
    part,
    situationOf: (prefix) => {
      if (!reading) return situationAt(keyOf(prefix));
      const { kept, messages: told, reply } = splitPrefix(prefix, codec, reading);
      const situation = situationAt(keyOf(kept));
      if (told.length === 0) return situation;
      return {
        rows: situation.rows,
        key: JSON.stringify([situation.key, told, reply]),
        shift: () => {
          const prior_W = situation.shift?.();
          const context = wordsIn(situation.key);
          return Float64Array.from(
            { length: width },
            (_, w) =>
              (prior_W?.[w] ?? 0) + reading.shift(told, reply, codec.nameOf(codec.writable + w), context),
          );
        },
      };
    },
    read,
    distribution: ({ key, rows, shift }) => {
      const known = said.get(key);
      if (known) return known;
      const added = [...rows.map((row) => read("logits", row)), ...(shift ? [shift()] : [])];
      const logits_W =
        added.length === 1
          ? added[0]!
          : Float64Array.from({ length: width }, (_, w) => added.reduce((sum, xs) => sum + xs[w]!, 0));
      const logp_W = logSoftmax(logits_W);
      const made = { logits_W, logp_W, entropy: entropyOf(logp_W) };
      said.set(key, made);
      return made;
    },
    changed: () => said.clear(),
  };
}

/** The situation of every target, [A]. */
export function situationsOf(weights: Weights, rows: TokenRows): Situation[] {
  const out: Situation[] = [];
  for (let r = 0; r < rowCount(rows); r++) {
    for (let a = rows.targetOffset[r]!; a < rows.targetOffset[r + 1]!; a++) {
      out.push(weights.situationOf(rows.tokens_N.subarray(rows.rowOffset[r]!, rows.target_A[a]!)));
    }
  }
  return out;
}

export function outputsOf(weights: Weights, rows: TokenRows, wanted: Wanted): Outputs {
  if (wanted.hidden) {
    throw new WhetstoneError("capability.missing", {
      where: "tabular engine",
      got: "a request for hidden states",
      expected: "log-probabilities, entropy, top k, given ids or value heads",
      fix: "Use the local engine for this method.",
    });
  }
  const { writable } = weights.codec;
  const situation_A = situationsOf(weights, rows);
  const A = situation_A.length;
  const said_A = situation_A.map((situation) => weights.distribution(situation));
  const logp_AW = said_A.map(({ logp_W }) => logp_W);
  // ln p of an id; −Infinity for ids that the policy never writes
  const logpOf = (a: number, id: number): number => logp_AW[a]![id - writable] ?? Number.NEGATIVE_INFINITY;
  const heads = (wanted.heads ?? []).map((head): [string, Float32Array] => [
    head,
    Float32Array.from(situation_A, ({ rows: own }) =>
      own.reduce((sum, row) => sum + weights.read(`head.${head}`, row)[0]!, 0),
    ),
  ]);
  const { at } = wanted;
  const k = wanted.topk === undefined ? 0 : Math.min(wanted.topk, weights.width);
  const best = k > 0 ? logp_AW.map((xs) => topIndices(xs, k)) : [];
  return {
    logp: Float32Array.from(situation_A, (_, a) => logpOf(a, rows.tokens_N[rows.target_A[a]!]!)),
    heads: Object.fromEntries(heads),
    ...(wanted.entropy ? { entropy: Float32Array.from(said_A, ({ entropy }) => entropy) } : {}),
    ...(at
      ? {
          at: Float32Array.from({ length: A * at.width }, (_, i) =>
            logpOf(Math.floor(i / at.width), at.ids[i]!),
          ),
        }
      : {}),
    ...(k > 0
      ? {
          topk: {
            k,
            ids: Int32Array.from(best.flat(), (w) => w + writable),
            logp: Float32Array.from(best.flatMap((ws, a) => ws.map((w) => logp_AW[a]![w]!))),
          },
        }
      : {}),
  };
}

/** A copy of the tables with the selected arrays. */
export function copyWeights(weights: Weights, keep: (name: string) => boolean): Weights {
  const parts = [...weights.parts].map(([name, table]): [string, Table] => [name, copyTable(table, keep)]);
  const { codec, context, prior, reading, features } = weights;
  return newWeights(codec, context, prior, new Map(parts), reading, features);
}

/** θ ← (1 − rate) θ + rate θ_other, over the contexts of both. */
export function blendWeights(weights: Weights, other: Weights, rate: number): void {
  for (const [name, theirs] of other.parts)
    for (const context of theirs.rows.keys()) weights.part(name).row(context);
  for (const [name, table] of weights.parts) {
    const numbers = table.array(weightsName);
    for (const [context, row] of table.rows) {
      const theirs = other.read(name, context);
      for (let w = 0; w < table.width; w++) {
        const i = row * table.width + w;
        numbers[i] = (1 - rate) * numbers[i]! + rate * theirs[w]!;
      }
    }
  }
  weights.changed();
}
