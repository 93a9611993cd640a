/**
 * The sample tables of the SQL environment: cars, penguins and countries. Data: see `credit` in tables.data.json
 * (vega-datasets, BSD-3-Clause; Palmer penguins, CC0; Gapminder, CC BY 4.0).
 */
import type { Cell } from "../../common/text/tables.ts";
import data from "./tables.data.json" with { type: "json" };

export type TableName = keyof typeof data.tables;

interface Sample {
  readonly name: string;
  /** SQL types by column. */
  readonly columns: Readonly<Record<string, string>>;
  readonly rows: readonly (readonly Cell[])[];
}

export const samples: readonly Sample[] = Object.entries(data.tables).map(([name, table]) => ({
  name,
  ...table,
}));

/** `cars(name TEXT, mpg REAL, …)`, a line for each table. */
export const schema = samples
  .map(
    ({ name, columns }) =>
      `${name}(${Object.entries(columns)
        .map((c) => c.join(" "))
        .join(", ")})`,
  )
  .join("\n");

/** A value as SQL writes it. */
export function literal(cell: Cell): string {
  if (cell === null) return "NULL";
  return typeof cell === "number" ? String(cell) : `'${cell.replaceAll("'", "''")}'`;
}

/** Statements that make the tables. */
export const setup = samples
  .map(
    ({ name, columns, rows }) =>
      `CREATE TABLE ${name} (${Object.entries(columns)
        .map((c) => c.join(" "))
        .join(", ")});\n` +
      `INSERT INTO ${name} VALUES ${rows.map((row) => `(${row.map(literal).join(",")})`).join(",")};`,
  )
  .join("\n");
