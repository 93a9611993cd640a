/** Tables of query results, and comparisons of them. */

/** One cell of a table. */
export type Cell = string | number | null;

/** A query result: named columns, and rows of cells. */
export interface Table {
  readonly columns: readonly string[];
  /** Each as long as `columns`. */
  readonly rows: readonly (readonly Cell[])[];
}

/** Settings of {@link cellMatch}. */
export interface MatchOptions {
  /** Largest difference in row counts; beyond it the match is 0. Default 5. */
  readonly spareRows?: number;
  /** Largest difference between numbers that count as equal, after rounding to three places. Default 0.005. */
  readonly tolerance?: number;
}

/**
 * The share of a wanted table's cells that another one reproduces, in [0, 1]:
 *
 *     match = (rows_ok · columns_ok) / (rows · columns)           of the wanted table
 *
 * columns_ok counts the wanted columns whose sorted values equal those of an unused column of the other table; names and
 * order do not matter. Where the row counts differ by 1 to `spareRows`, the longer table keeps only the rows whose key is in
 * the shorter one; if the sizes still differ, the match is 0. rows_ok is the remaining number of rows of the wanted table.
 * The key is the shorter table's first text column, else its first column of numbers with a fraction, else its first column;
 * in the longer table it is the column of that name, else of that position. A wanted table without rows is matched by the
 * number of columns alone. Lenient on purpose: extra columns cost nothing, up to `spareRows` extra rows may be forgiven, and
 * columns are compared one by one, so rows may be combined wrongly. 1 does not mean equal (see {@link equalTables}).
 * Paper: "PaVeRL-SQL: Text-to-SQL via Partial-Match Rewards and Verbal Reinforcement Learning".
 */
export function cellMatch(wanted: Table, got: Table, options: MatchOptions = {}): number {
  const { spareRows = 5, tolerance = 0.005 } = options;
  const width = wanted.columns.length;
  const height = wanted.rows.length;
  const difference = Math.abs(height - got.rows.length);
  if (width === 0 || difference > spareRows) return 0;
  if (height === 0) return Math.min(width, got.columns.length) / width;
  const [a, b] = difference === 0 ? [wanted.rows, got.rows] : withSharedKeys(wanted, got);
  if (a.length !== b.length) return 0;
  const theirs = got.columns.map((_, k) => sorted(b, k));
  const used = new Set<number>();
  for (let k = 0; k < width; k++) {
    const ours = sorted(a, k);
    const found = theirs.findIndex((values, j) => !used.has(j) && sameValues(ours, values, tolerance));
    if (found >= 0) used.add(found);
  }
  return (a.length * used.size) / (height * width);
}

/** Whether two tables hold the same multiset of rows. Column order matters, column names do not; numbers are compared to three places. */
export function equalTables(a: Table, b: Table): boolean {
  if (a.columns.length !== b.columns.length || a.rows.length !== b.rows.length) return false;
  const written = ({ rows }: Table): string[] => rows.map((row) => JSON.stringify(row.map(rounded))).sort();
  const [ours, theirs] = [written(a), written(b)];
  return ours.every((row, i) => row === theirs[i]);
}

type Rows = Table["rows"];

/** The rows of both tables; from the longer one only those whose key is in the shorter one. */
function withSharedKeys(a: Table, b: Table): readonly [Rows, Rows] {
  const [shorter, longer] = a.rows.length < b.rows.length ? [a, b] : [b, a];
  const key = keyColumn(shorter);
  const named = longer.columns.indexOf(shorter.columns[key]!);
  const there = named >= 0 ? named : key;
  const keys = new Set(shorter.rows.map((row) => rounded(row[key])));
  const kept = longer.rows.filter((row) => there < row.length && keys.has(rounded(row[there])));
  return shorter === a ? [a.rows, kept] : [kept, b.rows];
}

function keyColumn({ columns, rows }: Table): number {
  const first = (holds: (cell: Cell | undefined) => boolean): number =>
    columns.findIndex((_, k) => rows.some((row) => holds(row[k])));
  const texts = first((cell) => typeof cell === "string");
  return texts >= 0
    ? texts
    : Math.max(
        0,
        first((cell) => typeof cell === "number" && !Number.isInteger(cell)),
      );
}

const rounded = (cell: Cell | undefined): Cell =>
  typeof cell === "number" ? Math.round(cell * 1000) / 1000 : (cell ?? null);

/** Sort order: null, then numbers, then texts. */
const rank = (cell: Cell): number => (cell === null ? 0 : typeof cell === "number" ? 1 : 2);

function sorted(rows: Rows, k: number): Cell[] {
  return rows
    .map((row) => rounded(row[k]))
    .sort((a, b) => rank(a) - rank(b) || (a! < b! ? -1 : a! > b! ? 1 : 0));
}

function sameValues(a: readonly Cell[], b: readonly Cell[], tolerance: number): boolean {
  return a.every((x, i) => {
    const y = b[i];
    return typeof x === "number" && typeof y === "number" ? Math.abs(x - y) <= tolerance : x === y;
  });
}
