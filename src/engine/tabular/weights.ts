/** The numbers of a tabular model, and what they say about tokens. */
import { rowCount, type TokenRows } from "../../core/batch.ts";
import { WhetstoneError } from "../../core/errors.ts";
import type { Outputs, Wanted } from "../../core/outputs.ts";
import type { WordCodec } from "./codec.ts";
import { entropyOf, logSoftmax, topIndices } from "./softmax.ts";
import { Table } from "./table.ts";

export const weightsName = "weights";

/** Logits over writable tokens by context, and one table per value head. */
export class Weights {
  readonly codec: WordCodec;
  /** How many of the last tokens make a context; Infinity for the whole prefix. */
  readonly context: number;
  readonly parts: Map<string, Table>;

  constructor(codec: WordCodec, context: number, parts: Map<string, Table> = new Map()) {
    this.codec = codec;
    this.context = context;
    this.parts = parts;
  }

  /** Number of writable tokens. */
  get width(): number {
    return this.codec.vocabulary - this.codec.writable;
  }

  part(name: string): Table {
    let table = this.parts.get(name);
    if (!table) {
      table = new Table(name === "logits" ? this.width : 1);
      this.parts.set(name, table);
    }
    return table;
  }

  keyOf(prefix: Int32Array): string {
    return (this.context < prefix.length ? prefix.subarray(prefix.length - this.context) : prefix).join(" ");
  }

  /** A row as it is; zeros where the context is new. Makes nothing. */
  read(part: string, context: string): Float64Array {
    const table = this.part(part);
    const row = table.rows.get(context);
    if (row === undefined) return new Float64Array(table.width);
    return table.array(weightsName).subarray(row * table.width, (row + 1) * table.width);
  }

  /** The context of every target, [A]. */
  contexts(rows: TokenRows): string[] {
    const out: string[] = [];
    for (let r = 0; r < rowCount(rows); r++) {
      for (let a = rows.targetOffset[r]!; a < rows.targetOffset[r + 1]!; a++) {
        out.push(this.keyOf(rows.tokens_N.subarray(rows.rowOffset[r]!, rows.target_A[a]!)));
      }
    }
    return out;
  }

  /** ln p of an id from a row's distribution; −Infinity for what the policy never writes. */
  at(logp_W: Float64Array, id: number): number {
    return logp_W[id - this.codec.writable] ?? Number.NEGATIVE_INFINITY;
  }

  outputs(rows: TokenRows, wanted: Wanted): Outputs {
    if (wanted.hidden || wanted.inputGradient) {
      throw new WhetstoneError("capability.missing", {
        where: "tabular engine",
        got: `a wish for ${wanted.hidden ? "hidden states" : "input gradients"}`,
        expected: "log-probabilities, entropy, top k, given ids or value heads",
        mend: "Use the local engine for this method.",
      });
    }
    const contexts = this.contexts(rows);
    const A = contexts.length;
    const logp_AW = contexts.map((context) => logSoftmax(this.read("logits", context)));
    const heads = (wanted.heads ?? []).map((head): [string, Float32Array] => [
      head,
      Float32Array.from(contexts, (context) => this.read(`head.${head}`, context)[0]!),
    ]);
    const { at } = wanted;
    const k = wanted.topk === undefined ? 0 : Math.min(wanted.topk, this.width);
    const best = k > 0 ? logp_AW.map((xs) => topIndices(xs, k)) : [];
    return {
      logp: Float32Array.from(logp_AW, (xs, a) => this.at(xs, rows.tokens_N[rows.target_A[a]!]!)),
      heads: Object.fromEntries(heads),
      ...(wanted.entropy ? { entropy: Float32Array.from(logp_AW, entropyOf) } : {}),
      ...(at
        ? {
            at: Float32Array.from({ length: A * at.width }, (_, i) =>
              this.at(logp_AW[Math.floor(i / at.width)]!, at.ids[i]!),
            ),
          }
        : {}),
      ...(k > 0
        ? {
            topk: {
              k,
              ids: Int32Array.from(best.flat(), (w) => w + this.codec.writable),
              logp: Float32Array.from(best.flatMap((ws, a) => ws.map((w) => logp_AW[a]![w]!))),
            },
          }
        : {}),
    };
  }

  /** A copy of the tables' arrays that are kept. */
  copy(keep: (name: string) => boolean): Weights {
    const parts = [...this.parts].map(([name, table]): [string, Table] => [name, table.copy(keep)]);
    return new Weights(this.codec, this.context, new Map(parts));
  }

  /** θ ← (1 − rate) θ + rate θ_other, over all contexts of either. */
  blend(other: Weights, rate: number): void {
    for (const [name, theirs] of other.parts)
      for (const context of theirs.rows.keys()) this.part(name).row(context);
    for (const [name, table] of this.parts) {
      const weights = table.array(weightsName);
      for (const [context, row] of table.rows) {
        const theirs = other.read(name, context);
        for (let w = 0; w < table.width; w++) {
          const i = row * table.width + w;
          weights[i] = (1 - rate) * weights[i]! + rate * theirs[w]!;
        }
      }
    }
  }
}
