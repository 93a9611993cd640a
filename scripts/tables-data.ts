/**
 * Extracts `src/env/sql/tables.data.json` from a public package. The result is committed; run this only to renew it:
 *
 *     mkdir /tmp/tables && cd /tmp/tables && npm init -y && npm install vega-datasets@3.2.1
 *     node <repository>/scripts/tables-data.ts /tmp/tables
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";

const folder = join(process.argv[2] ?? ".", "node_modules", "vega-datasets", "data");
const read = (name: string): string => readFileSync(join(folder, name), "utf8");

const cars = z
  .array(
    z.object({
      Name: z.string(),
      Miles_per_Gallon: z.number().nullable(),
      Cylinders: z.number(),
      Horsepower: z.number().nullable(),
      Weight_in_lbs: z.number(),
      Acceleration: z.number(),
      Year: z.string(),
      Origin: z.string(),
    }),
  )
  .parse(JSON.parse(read("cars.json")));
const penguins = z
  .array(
    z.object({
      Species: z.string(),
      Island: z.string(),
      "Beak Length (mm)": z.number().nullable(),
      "Beak Depth (mm)": z.number().nullable(),
      "Flipper Length (mm)": z.number().nullable(),
      "Body Mass (g)": z.number().nullable(),
      Sex: z.string().nullable(),
    }),
  )
  .parse(JSON.parse(read("penguins.json")));
const [, ...countries] = read("gapminder-health-income.csv")
  .trim()
  .split("\n")
  // the only quoted fields are names with a comma
  .map((line) => [...line.matchAll(/(?:^|,)(?:"([^"]*)"|([^,]*))/g)].map((m) => (m[1] ?? m[2] ?? "").trim()));

const tables = {
  cars: {
    columns: {
      name: "TEXT",
      mpg: "REAL",
      cylinders: "INTEGER",
      horsepower: "INTEGER",
      weight: "INTEGER",
      acceleration: "REAL",
      year: "INTEGER",
      origin: "TEXT",
    },
    rows: cars.map((c) => [
      c.Name,
      c.Miles_per_Gallon,
      c.Cylinders,
      c.Horsepower,
      c.Weight_in_lbs,
      c.Acceleration,
      Number(c.Year.slice(0, 4)),
      c.Origin,
    ]),
  },
  penguins: {
    columns: {
      species: "TEXT",
      island: "TEXT",
      beak_length: "REAL",
      beak_depth: "REAL",
      flipper_length: "INTEGER",
      body_mass: "INTEGER",
      sex: "TEXT",
    },
    rows: penguins.map((p) => [
      p.Species,
      p.Island,
      p["Beak Length (mm)"],
      p["Beak Depth (mm)"],
      p["Flipper Length (mm)"],
      p["Body Mass (g)"],
      // one is marked by a full stop
      p.Sex === "." ? null : (p.Sex?.toLowerCase() ?? null),
    ]),
  },
  countries: {
    columns: {
      country: "TEXT",
      income: "INTEGER",
      life_expectancy: "REAL",
      population: "INTEGER",
      region: "TEXT",
    },
    rows: countries.map(([country, income, health, population, region]) => [
      country!,
      Number(income),
      Number(health),
      Number(population),
      region!,
    ]),
  },
};

const credit =
  "vega-datasets 3.2.1 (BSD-3-Clause): cars (StatLib), penguins (Palmer Station LTER and Allison Horst, CC0), countries (income, life expectancy and population from Gapminder, CC BY 4.0, gapminder.org). Columns are renamed, some are left out.";
const bodies = Object.entries(tables).map(
  ([name, { columns, rows }]) =>
    `    ${JSON.stringify(name)}: {\n      "columns": ${JSON.stringify(columns)},\n      "rows": [\n${rows.map((row) => `        ${JSON.stringify(row)}`).join(",\n")}\n      ]\n    }`,
);
const text = `{\n  "credit": ${JSON.stringify(credit)},\n  "tables": {\n${bodies.join(",\n")}\n  }\n}\n`;
writeFileSync(new URL("../src/env/sql/tables.data.json", import.meta.url), text);
console.error(
  `${Object.entries(tables)
    .map(([name, { rows }]) => `${name} ${rows.length}`)
    .join(", ")} rows, ${text.length} bytes`,
);
