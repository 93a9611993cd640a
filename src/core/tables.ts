/** Tables as queries make them, and how much of one is in another. */

/** One cell of a table. */
export type Cell = string | number | null;

export interface Table {
  readonly columns: readonly string[];
  /** Each as long as `columns`. */
  readonly rows: readonly (readonly Cell[])[];
}
