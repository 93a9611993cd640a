/** The passes of a local model over packed rows: outputs, gradients of the weights, and gradients of the inputs. */
import { gapSums } from "../../common/statistics/gaps.ts";
import { addStats } from "../../common/statistics/stats.ts";
import { selectRows, selectTokens, togetherGroups } from "../../common/tokens/pack.ts";
import type { Batch, TokenRows } from "../../core/batch.ts";
import { rowCount } from "../../core/batch.ts";
import type { Loss } from "../../core/model.ts";
import type { Cotangents, Outputs, Wanted } from "../../core/outputs.ts";
import type { ModelId, Stats } from "../../core/types.ts";
import { requireFit } from "../requests.ts";
import type { Host } from "./caller.ts";
import {
  atIdsOf,
  cotangentsOf,
  everyTarget,
  outputRequestOf,
  results,
  targetsOfRows,
  wantedAt,
} from "./outputRequests.ts";
import { type Grid, type MicroBatch, packRows, planMicroBatches } from "./packing.ts";
import type { Architecture } from "./parameters.ts";
import type { Handle } from "./protocol.ts";
import { requireTokens } from "./tokenIds.ts";

/** The weights that a pass is made with. */
export interface PassModel {
  /** Its name in the run. */
  readonly id: ModelId;
  readonly host: Host;
  readonly handle: Handle;
  readonly architecture: Architecture;
  /** Maximum positions of one micro-batch, padding included. */
  readonly places: number;
  /** How sizes of micro-batches are rounded. */
  readonly grid: Grid;
  readonly padId: number;
}

function requireRows({ id, architecture: { config } }: PassModel, rows: TokenRows): void {
  requireFit(rows, id, config.contextTokens);
  requireTokens("local engine", rows.tokens_N, config.vocabulary);
}

const plan = (model: PassModel, rows: TokenRows, groups: readonly (readonly number[])[]): MicroBatch[] =>
  planMicroBatches(rows, groups, model.architecture.config, model.places, model.grid);

/** Runs rows that fit one micro-batch. */
async function forward(
  { host, handle, architecture, padId, grid }: PassModel,
  part: TokenRows,
  layout: Omit<MicroBatch, "rows">,
  want: Wanted,
  keep: boolean,
) {
  const rows = packRows(part, layout, padId, grid);
  const given = { ...rows, ...atIdsOf(want, rows.A) };
  return {
    A: rows.A,
    out: await host.call("forward", handle, given, outputRequestOf(architecture, want), keep),
  };
}

/** See `Model.score`. */
export async function score(model: PassModel, rows: TokenRows, want: Wanted = {}): Promise<Outputs> {
  requireRows(model, rows);
  const { architecture } = model;
  const { put, outputs } = results(architecture, outputRequestOf(architecture, want), rows.target_A.length);
  for (const micro of plan(model, rows, rowByRow(rows))) {
    const index = targetsOfRows(rows, micro.rows);
    const part = selectTokens(rows, micro.rows);
    put((await forward(model, part, micro, wantedAt(want, index), false)).out, index);
  }
  return outputs;
}

/** See `Model.accumulate`. @param version of the weights. */
export async function accumulate<Aux>(
  model: PassModel,
  version: string,
  batch: Batch,
  objective: Loss<Aux>,
  aux: Aux,
  into: string,
): Promise<Stats> {
  requireRows(model, batch);
  const { host, handle, architecture } = model;
  const stats: Stats = {};
  const gaps: number[] = [];
  const evaluate = (part: Batch, outputs: Outputs): Cotangents => {
    for (const gap of samplingGaps(part, outputs.logp, model.id, version)) gaps.push(gap);
    const { cotangents, stats: measured } = objective.evaluate(outputs, part, aux);
    addStats(stats, measured);
    return cotangents;
  };
  for (const micro of plan(model, batch, togetherGroups(batch, objective.together))) {
    const part = selectRows(batch, micro.rows);
    const want = objective.wants(aux, part);
    const wanted = outputRequestOf(architecture, want);
    const pieces = plan(model, part, rowByRow(part));
    const whole = everyTarget(part);
    if (pieces.length === 1) {
      const { A, out } = await forward(model, part, micro, want, true);
      const { put, outputs } = results(architecture, wanted, whole.length);
      put(out, whole);
      const cotangents = evaluate(part, outputs);
      await host.call("backward", handle, into, cotangentsOf(architecture, wanted, cotangents, whole, A));
      continue;
    }
    // too large to keep: computes all outputs first, then each part forward again and backward
    const cotangents = evaluate(part, await score(model, part, want));
    for (const piece of pieces) {
      const index = targetsOfRows(part, piece.rows);
      const { A } = await forward(model, selectTokens(part, piece.rows), piece, wantedAt(want, index), true);
      await host.call("backward", handle, into, cotangentsOf(architecture, wanted, cotangents, index, A));
    }
  }
  return {
    ...stats,
    targets: batch.target_A.length,
    ...gapSums("logpGap", gaps),
    "logpGap.noise.max": logpNoise(architecture.config.layers),
  };
}

/** See `Model.inputGradient`. */
export async function inputGradient<Aux>(
  model: PassModel,
  batch: Batch,
  objective: Loss<Aux>,
  aux: Aux,
): Promise<Float32Array> {
  requireRows(model, batch);
  const { host, handle, architecture } = model;
  const want = objective.wants(aux, batch);
  const wanted = outputRequestOf(architecture, want);
  const { cotangents } = objective.evaluate(await score(model, batch, want), batch, aux);
  const D = architecture.config.width;
  const out = new Float32Array(batch.tokens_N.length * D);
  // row by row: the gradients of a prefix that rows share would be added up
  for (const [r] of rowByRow(batch)) {
    const index = targetsOfRows(batch, [r!]);
    const row = selectTokens(batch, [r!]);
    const layout = { shared: [[0]], longest: row.tokens_N.length };
    const { A } = await forward(model, row, layout, wantedAt(want, index), true);
    const given = cotangentsOf(architecture, wanted, cotangents, index, A);
    const gradient = await host.call("inputGradient", handle, given);
    out.set(gradient.subarray(0, row.tokens_N.length * D), batch.rowOffset[r!]! * D);
  }
  return out;
}

const rowByRow = (rows: TokenRows): number[][] => Array.from({ length: rowCount(rows) }, (_, r) => [r]);

/**
 * Mean gap between sampling and training that rounding to float32 makes, in nats: measured for 30 layers (see
 * docs/decisions.md), and assumed to grow with the root of the depth, as sums of independent errors do.
 */
const logpNoise = (layers: number): number => 2e-6 * Math.sqrt(layers);

/** |ln p now − ln p when sampled| of each token that the current weights sampled. */
function samplingGaps(batch: Batch, logp: Float32Array, model: ModelId, version: string): number[] {
  const gaps: number[] = [];
  for (let r = 0; r < rowCount(batch); r++) {
    const row = batch.rows[r]!;
    if (row.model !== model || row.version !== version) continue;
    if (row.origin !== "sampled" || row.context !== "sampled") continue;
    for (let a = batch.targetOffset[r]!; a < batch.targetOffset[r + 1]!; a++) {
      gaps.push(Math.abs(logp[a]! - batch.logp_A[a]!));
    }
  }
  return gaps;
}
