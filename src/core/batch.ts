/** Rows of tokens packed as a struct of typed arrays: no object per token. */
import type { Id, ModelId, Origin, Role, Unit } from "./types.ts";

/**
 * Token sequences and the positions that are scored (targets). Sizes: N tokens, R rows and A targets, each over the whole batch.
 * A target at position p of a row is predicted from the row's tokens before p.
 */
export interface TokenRows {
  readonly tokens_N: Int32Array;
  /** Row r's tokens are tokens_N[rowOffset[r] … rowOffset[r + 1]), [R + 1]. */
  readonly rowOffset: Int32Array;
  /** Index into tokens_N of each target, ascending, [A]. Never a row's first token. */
  readonly target_A: Int32Array;
  /** Row r's targets are target_A[targetOffset[r] … targetOffset[r + 1]), [R + 1]. */
  readonly targetOffset: Int32Array;
}

/** Where a row came from. */
export interface RowInfo {
  readonly trajectory: Id;
  readonly task: Id;
  readonly role: Role;
  readonly model: ModelId;
  readonly version: string;
  readonly origin: Origin;
  /** "rewritten": the prompt was re-rendered, so behaviour log-probabilities are unknown until the row is scored. */
  readonly context: "sampled" | "rewritten";
  readonly unit: Id;
  readonly group: Id;
  /** Index of the row's first target among the action tokens of its trajectory. */
  readonly from: number;
}

/** The training batch of an objective. Per-token arrays have one entry per target, in row order. */
export interface Batch extends TokenRows {
  readonly rows: readonly RowInfo[];
  readonly units: readonly Unit[];
  /** Turn of its trajectory that each target belongs to, [A]. */
  readonly turn_A: Int32Array;
  /** ln p at temperature 1 when sampled, [A]; NaN where unknown. */
  readonly logp_A: Float32Array;
  /** ln p under the sampling (behaviour) distribution, [A]; NaN where unknown. */
  readonly behaviour_A: Float32Array;
  /** [A], in units of reward or normalised, depending on the estimator. */
  readonly advantage_A: Float32Array;
  /** Loss weight, [A]; 0 leaves a token out. */
  readonly weight_A: Float32Array;
  /** Additional named per-token numbers that a piece adds (clip bounds, KL coefficients, origin tags…), each [A]. */
  readonly columns: Readonly<Record<string, Float32Array>>;
  /** Index of each target in the batch that was passed to the objective's `prepare`, [A]. */
  readonly index_A: Int32Array;
}

/** One row before packing. Arrays over its targets have one length. */
export interface Row {
  readonly info: RowInfo;
  readonly tokens: Int32Array;
  /** Position of each target within `tokens`, ascending, all ≥ 1. */
  readonly targets: Int32Array;
  readonly turn: Int32Array;
  readonly logp: Float32Array;
  readonly behaviour: Float32Array;
  readonly advantage: Float32Array;
  readonly weight: Float32Array;
  readonly columns?: Readonly<Record<string, Float32Array>>;
}

/** Number of rows R. */
export const rowCount = (rows: TokenRows): number => rows.rowOffset.length - 1;
