/** Logits by context: rows of a table that appear when their context is first seen. */

/** The numbers of one model: logits, and further arrays of the same shape (gradients, moments). */
export class Table {
  /** Numbers per context. */
  readonly width: number;
  readonly rows = new Map<string, number>();
  #arrays = new Map<string, Float64Array>();
  #capacity = 16;

  constructor(width: number) {
    this.width = width;
  }

  /** Row of a context, made with zeros if it is new. */
  row(context: string): number {
    const known = this.rows.get(context);
    if (known !== undefined) return known;
    const row = this.rows.size;
    this.rows.set(context, row);
    if (this.rows.size > this.#capacity) {
      this.#capacity *= 2;
      for (const [name, xs] of this.#arrays) {
        const grown = new Float64Array(this.#capacity * this.width);
        grown.set(xs);
        this.#arrays.set(name, grown);
      }
    }
    return row;
  }

  /** The named array over all rows so far, [rows × width]; a view that a new row may outdate. */
  array(name: string): Float64Array {
    let xs = this.#arrays.get(name);
    if (!xs) {
      xs = new Float64Array(this.#capacity * this.width);
      this.#arrays.set(name, xs);
    }
    return xs.subarray(0, this.rows.size * this.width);
  }

  has(name: string): boolean {
    return this.#arrays.has(name);
  }

  names(): string[] {
    return [...this.#arrays.keys()];
  }

  drop(name: string): void {
    this.#arrays.delete(name);
  }

  /** A copy of the arrays named. */
  copy(keep: (name: string) => boolean): Table {
    const out = new Table(this.width);
    for (const context of this.rows.keys()) out.row(context);
    for (const name of this.names()) if (keep(name)) out.array(name).set(this.array(name));
    return out;
  }
}
