/** Logits by context. A row is added when its context is first seen. */

/** One part of a model: its values, and further arrays of the same shape (gradients, moments). */
export interface Table {
  /** Numbers per context. */
  readonly width: number;
  readonly rows: ReadonlyMap<string, number>;
  readonly beginning: Beginning | undefined;
  /** Row of a context, added if it is new. */
  row(context: string): number;
  /** The named array over all rows so far, [rows × width]; a view that a new row may invalidate. */
  array(name: string): Float64Array;
  names(): string[];
  drop(name: string): void;
}

/** Initial values of a new context in one of a table's arrays. */
export interface Beginning {
  readonly array: string;
  of(context: string): ArrayLike<number>;
}

/** A table without rows. */
export function newTable(width: number, beginning?: Beginning): Table {
  const rows = new Map<string, number>();
  const arrays = new Map<string, Float64Array>();
  let capacity = 16;
  const array = (name: string): Float64Array => {
    let xs = arrays.get(name);
    if (!xs) {
      xs = new Float64Array(capacity * width);
      arrays.set(name, xs);
    }
    return xs.subarray(0, rows.size * width);
  };
  return {
    width,
    rows,
    beginning,
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
      if (beginning) array(beginning.array).set(beginning.of(context), row * width);
      return row;
    },
    array,
    names: () => [...arrays.keys()],
    drop: (name) => void arrays.delete(name),
  };
}

/** A copy with the named arrays only. */
export function copyTable(table: Table, keep: (name: string) => boolean): Table {
  const out = newTable(table.width, table.beginning);
  for (const context of table.rows.keys()) out.row(context);
  for (const name of table.names()) if (keep(name)) out.array(name).set(table.array(name));
  return out;
}
