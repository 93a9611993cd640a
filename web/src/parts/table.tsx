/** A table that can be saved as a file. On a narrow screen each row is a card, and each cell says which column it is of. */
import type { ComponentChildren } from "preact";
import { csv, save } from "./save.ts";

export interface Column<T> {
  readonly name: string;
  /** In place of its name at the top. */
  readonly head?: ComponentChildren;
  readonly cell: (row: T) => ComponentChildren;
  /** As the file has it. Absent: the cell, where that is a text or a number. */
  readonly value?: (row: T) => string | number | null;
  readonly class?: string;
  /** It holds what is pressed, not read: left out on paper. */
  readonly acts?: true;
}

interface TableProps<T> {
  /** What the rows are. */
  readonly label: string;
  /** Whether the label is to be seen: no heading above says the same. */
  readonly labelled?: boolean;
  /** The first one heads each row. */
  readonly columns: readonly Column<T>[];
  readonly rows: readonly T[];
  readonly keyOf: (row: T) => string;
  /** Name of the file, without its ending. Absent: nothing to save. */
  readonly file?: string;
}

export function Table<T>({ label, labelled = false, columns, rows, keyOf, file }: TableProps<T>) {
  const [first, ...others] = columns;
  return (
    <>
      <div class="wide">
        <table class="stacked" aria-label={labelled ? undefined : label}>
          {labelled && <caption>{label}</caption>}
          <thead>
            <tr>
              {columns.map(({ name, head = name, acts }) => (
                <th key={name} scope="col" class={acts && "screen-only"}>
                  {head}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={keyOf(row)}>
                <th scope="row" class={first?.class}>
                  {first?.cell(row)}
                </th>
                {others.map(({ name, cell, class: of, acts }) => (
                  <td key={name} data-label={name} class={acts ? "screen-only" : of}>
                    {cell(row)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {file !== undefined && <SaveTable label={label} file={file} table={() => tableRows(columns, rows)} />}
    </>
  );
}

interface SaveTableProps {
  /** What the rows are. */
  readonly label: string;
  /** Name of the file, without its ending. */
  readonly file: string;
  /** The names of the columns come first. */
  readonly table: () => readonly (readonly (string | number | null)[])[];
}

export const SaveTable = ({ label, file, table }: SaveTableProps) => (
  <p class="saves">
    <button
      type="button"
      class="quiet"
      aria-label={`Save as CSV: ${label}`}
      onClick={() => save(`${file}.csv`, "text/csv", csv(table()))}
    >
      Save as CSV
    </button>
  </p>
);

/** Names of the columns that a file can hold, and their values. */
export function tableRows<T>(
  columns: readonly Column<T>[],
  rows: readonly T[],
): (string | number | null)[][] {
  const plain = columns.flatMap(({ name, cell, value }) => {
    const first = rows[0];
    const shown = first === undefined ? null : cell(first);
    if (value) return [{ name, value }];
    if (typeof shown !== "string" && typeof shown !== "number") return [];
    return [{ name, value: (row: T): string | number | null => asValue(cell(row)) }];
  });
  return [plain.map(({ name }) => name), ...rows.map((row) => plain.map(({ value }) => value(row)))];
}

const asValue = (cell: ComponentChildren): string | number | null =>
  typeof cell === "string" || typeof cell === "number" ? cell : null;
