/** Objectives: a loss, and what it computes from a batch before the first step. */
import type { Batch } from "./batch.ts";
import type { Ctx } from "./context.ts";
import type { Loss } from "./model.ts";
import type { ModelId } from "./types.ts";

/** A loss that a method trains with, and the constants it needs, which are computed without gradient. */
export interface Objective<Aux = unknown> extends Loss<Aux> {
  /** The model to train. Default: each row trains the model that acted in it. */
  readonly model?: ModelId;
  /**
   * Per-token numbers, each [A], that stay fixed during the update (log-probabilities of a reference, old log-probabilities
   * of rewritten rows). An update calls it once, before its first step, and adds the columns to the batch.
   */
  columns?(ctx: Ctx, batch: Batch): Promise<Readonly<Record<string, Float32Array>>>;
  /** Computes values without gradient: teacher outputs, anchors, and whole-batch constants such as the normaliser. */
  prepare(ctx: Ctx, batch: Batch): Promise<Aux>;
}
