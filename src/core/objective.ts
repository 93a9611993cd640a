/** What a method minimises: a loss, and what it needs to know of a batch before its first step. */
import type { Batch } from "./batch.ts";
import type { Ctx } from "./context.ts";
import type { Loss } from "./model.ts";
import type { ModelId } from "./types.ts";

export interface Objective<Aux = unknown> extends Loss<Aux> {
  /** The model that it trains. Default: each row trains the model that acted in it. */
  readonly model?: ModelId;
  /**
   * Per-token numbers, each [A], that stay fixed while the batch is learnt from (log-probabilities of a reference, old
   * log-probabilities of rewritten rows). An update asks once, before its first step, and adds them to the batch.
   */
  columns?(ctx: Ctx, batch: Batch): Promise<Readonly<Record<string, Float32Array>>>;
  /** Teacher outputs, anchors, whole-batch constants such as the normaliser; no gradient. */
  prepare(ctx: Ctx, batch: Batch): Promise<Aux>;
}
