/** Per-token outputs of a model, and the cotangents that an objective returns. */

/** Log-probabilities at given ids: `width` ids per target, row-major [A, width]. */
export interface AtIds {
  readonly ids: Int32Array;
  readonly width: number;
}

/** Requested outputs. `logp` is always included. */
export interface Wanted {
  readonly entropy?: true;
  /** The k most probable ids of each target's distribution. */
  readonly topk?: number;
  readonly at?: AtIds;
  /** Named value heads, read at each target's context. */
  readonly heads?: readonly string[];
  /**
   * Layers whose hidden states are returned at each target's context: 0 is the embeddings; the last layer comes after its norm.
   * Negative numbers count from the end: −1 is the last.
   */
  readonly hidden?: readonly number[];
}

/** Outputs at A targets, in row order. */
export interface Outputs {
  /** ln p(target | prefix) at temperature 1 over the full vocabulary, [A]. */
  readonly logp: Float32Array;
  /** Nats, [A]. */
  readonly entropy?: Float32Array;
  /** [A, k] row-major, most probable first. */
  readonly topk?: { readonly ids: Int32Array; readonly logp: Float32Array; readonly k: number };
  /** [A, width] row-major. */
  readonly at?: Float32Array;
  /** One number per target and head, each [A]. */
  readonly heads: Readonly<Record<string, Float32Array>>;
  /** One array per requested layer, each [A, width of the model] row-major. */
  readonly hidden?: readonly Float32Array[];
}

/** ∂loss/∂output, with the shapes of {@link Outputs}. Absent entries are zero. */
export interface Cotangents {
  readonly logp?: Float32Array;
  readonly entropy?: Float32Array;
  readonly topk?: Float32Array;
  readonly at?: Float32Array;
  readonly heads?: Readonly<Record<string, Float32Array>>;
  readonly hidden?: readonly Float32Array[];
}
