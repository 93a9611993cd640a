/** Converts between the outputs that callers request and the inputs and outputs of programs. */

import { gather, gatherIds } from "../../common/tokens/pack.ts";
import { concatIds } from "../../common/tokens/sequence.ts";
import type { TokenRows } from "../../core/batch.ts";
import { WhetstoneError } from "../../core/errors.ts";
import type { Cotangents, Outputs, Wanted } from "../../core/outputs.ts";
import type { TypedArray } from "../../tensor/execute.ts";
import type { OutputRequest } from "./decoder.ts";
import type { Architecture } from "./parameters.ts";

/** The program that gives the requested outputs. @throws WhetstoneError for outputs that this model does not have. */
export function outputRequestOf({ config, heads }: Architecture, want: Wanted): OutputRequest {
  const unknown = (want.heads ?? []).filter((name) => !heads.includes(name));
  if (unknown.length > 0) {
    throw new WhetstoneError("capability.missing", {
      where: "local engine",
      got: `unknown value heads ${unknown.join(", ")}`,
      expected:
        heads.length > 0
          ? `one of its value heads ${heads.join(", ")}`
          : "no value heads: the model has none",
      fix: "Name the heads when the model is made.",
    });
  }
  const { topk = 0, at } = want;
  const hidden = (want.hidden ?? []).map((layer) => (layer < 0 ? config.layers + 1 + layer : layer));
  const goodTop = Number.isInteger(topk) && topk >= 0 && topk <= config.vocabulary;
  const goodLayers = hidden.every((layer) => Number.isInteger(layer) && layer >= 0 && layer <= config.layers);
  if (!goodTop || !goodLayers) {
    throw new WhetstoneError("option.range", {
      where: "local engine",
      got: `a request for top-k ${topk} and the hidden layers [${(want.hidden ?? []).join(", ")}]`,
      expected: `k up to ${config.vocabulary}, layers from 0 (the embeddings) to ${config.layers} (after the last norm), or from the end, −1 being the last`,
      fix: "Request only outputs that this model has.",
    });
  }
  return {
    entropy: want.entropy ?? false,
    topk,
    at: at?.width ?? 0,
    heads: want.heads ?? [],
    hidden,
  };
}

/** Ids whose log-probabilities are requested, padded to A targets. */
export function atIdsOf(want: Wanted, A: number): { readonly atIds?: Int32Array } {
  if (!want.at) return {};
  const atIds = new Int32Array(A * want.at.width);
  atIds.set(want.at.ids);
  return { atIds };
}

/** The request, restricted to some targets. @param index of these targets in the whole. */
export const wantedAt = (want: Wanted, index: Int32Array): Wanted =>
  want.at
    ? { ...want, at: { ids: gatherIds(want.at.ids, index, want.at.width), width: want.at.width } }
    : want;

/** Numbers per target of each output. */
function widthsOf({ config }: Architecture, wanted: OutputRequest): Record<string, number> {
  return {
    logp: 1,
    ...(wanted.entropy ? { entropy: 1 } : {}),
    ...(wanted.topk > 0 ? { topk: wanted.topk } : {}),
    ...(wanted.at > 0 ? { at: wanted.at } : {}),
    ...Object.fromEntries(wanted.heads.map((name) => [`head.${name}`, 1])),
    ...Object.fromEntries(wanted.hidden.map((layer) => [`hidden.${layer}`, config.width])),
  };
}

/** A program's results, by name, for all targets of a batch that is scored in parts. */
export interface Results {
  /** Adds a part. @param index of each of its targets in the whole. */
  put(part: Readonly<Record<string, TypedArray>>, index: Int32Array): void;
  readonly outputs: Outputs;
}

export function results(a: Architecture, wanted: OutputRequest, A: number): Results {
  const widths = widthsOf(a, wanted);
  const whole = Object.fromEntries(
    Object.entries(widths).map(([name, n]) => [name, new Float32Array(A * n)]),
  );
  const ids = new Int32Array(A * wanted.topk);
  const scatter = (to: TypedArray, from: TypedArray, width: number, index: Int32Array): void => {
    index.forEach((at, i) => {
      to.set(from.subarray(i * width, (i + 1) * width), at * width);
    });
  };
  return {
    put(part, index) {
      for (const [name, width] of Object.entries(widths)) scatter(whole[name]!, part[name]!, width, index);
      if (wanted.topk > 0) scatter(ids, part["topk.ids"]!, wanted.topk, index);
    },
    outputs: {
      logp: whole.logp!,
      ...(wanted.entropy ? { entropy: whole.entropy! } : {}),
      ...(wanted.topk > 0 ? { topk: { ids, logp: whole.topk!, k: wanted.topk } } : {}),
      ...(wanted.at > 0 ? { at: whole.at! } : {}),
      heads: Object.fromEntries(wanted.heads.map((name) => [name, whole[`head.${name}`]!])),
      ...(wanted.hidden.length > 0
        ? { hidden: wanted.hidden.map((layer) => whole[`hidden.${layer}`]!) }
        : {}),
    },
  };
}

/** Cotangents of some targets as a program takes them: by output, padded with zeros to A targets. */
export function cotangentsOf(
  a: Architecture,
  wanted: OutputRequest,
  { logp, entropy, topk, at, heads = {}, hidden = [] }: Cotangents,
  index: Int32Array,
  A: number,
): Record<string, Float32Array> {
  const given: Record<string, Float32Array | undefined> = {
    logp,
    entropy,
    topk,
    at,
    ...Object.fromEntries(Object.entries(heads).map(([name, xs]) => [`head.${name}`, xs])),
    ...Object.fromEntries(hidden.map((xs, i) => [`hidden.${wanted.hidden[i]}`, xs])),
  };
  const out: Record<string, Float32Array> = {};
  for (const [name, width] of Object.entries(widthsOf(a, wanted))) {
    const xs = given[name];
    if (!xs) continue;
    out[name] = new Float32Array(A * width);
    out[name].set(gather(xs, index, width));
  }
  if (Object.keys(out).length === 0) out.logp = new Float32Array(A);
  return out;
}

/** 0 … A − 1: all targets. */
export const everyTarget = (rows: TokenRows): Int32Array => rows.target_A.map((_, a) => a);

/** Indices of the targets of some rows, in the order of those rows. */
export function targetsOfRows(rows: TokenRows, picked: readonly number[]): Int32Array {
  const all = everyTarget(rows);
  return concatIds(picked.map((r) => all.subarray(rows.targetOffset[r]!, rows.targetOffset[r + 1]!)));
}
