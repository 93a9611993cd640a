/** Logits by context: rows of a table that appear when their context is first seen. */

/** One part of a model: its numbers, and further arrays of the same shape (gradients, moments). */
export interface Table {
  /** Numbers per context. */
  readonly width: number;
  readonly rows: ReadonlyMap<string, number>;
  /** Row of a context, made with zeros if it is new. */
  row(context: string): number;
  /** The named array over all rows so far, [rows × width]; a view that a new row may outdate. */
  array(name: string): Float64Array;
  names(): string[];
  drop(name: string): void;
}

/** A table without rows. */
export function newTable(width: number): Table {
  const rows = new Map<string, number>();
  const arrays = new Map<string, Float64Array>();
  let capacity = 16;
  return {
    width,
    rows,
    row: (context) => {
      const known = rows.get(context);
      if (known !== undefined) return known;
      const row = rows.size;
      rows.set(context, row);
      if (rows.size > capacity) {
        capacity *= 2;
        for (const [name, xs] of arrays) {
          const grown = new Float64Array(capacity * width);
          grown.set(xs);
          arrays.set(name, grown);
        }
      }
      return row;
    },
    array: (name) => {
      let xs = arrays.get(name);
      if (!xs) {
        xs = new Float64Array(capacity * width);
        arrays.set(name, xs);
      }
      return xs.subarray(0, rows.size * width);
    },
    names: () => [...arrays.keys()],
    drop: (name) => void arrays.delete(name),
  };
}

/** A copy of the arrays named. */
export function copyTable(table: Table, keep: (name: string) => boolean): Table {
  const out = newTable(table.width);
  for (const context of table.rows.keys()) out.row(context);
  for (const name of table.names()) if (keep(name)) out.array(name).set(table.array(name));
  return out;
}
