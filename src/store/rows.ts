/** Rows of a batch, and the result of writing them. */
import type { Id } from "../core/types.ts";
import type { ResponsesTable, SignalsTable, SignalTargetsTable, TracedCallsTable } from "./schema.ts";

/** Plain data, which can be handed from thread to thread. */
export interface Rows {
  readonly responses: readonly ResponsesTable[];
  readonly signals: readonly SignalRows[];
  readonly traced: readonly TracedCallsTable[];
}
export interface SignalRows {
  readonly row: SignalsTable;
  readonly targets: readonly SignalTargetsTable[];
}

export interface RowsWritten {
  /** Ids of responses that were not there before. */
  readonly added: ReadonlySet<Id>;
  /** Ids of traced calls that were not there before. */
  readonly addedTraced: ReadonlySet<Id>;
  /** For each signal, the id of the first one where it was known already. */
  readonly firsts: readonly (Id | undefined)[];
}
