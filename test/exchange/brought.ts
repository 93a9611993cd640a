/** Imports files of other tools into a new store. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { importFile } from "../../src/exchange/import/importFile.ts";
import { openTrafficStore } from "../../src/store/openTrafficStore.ts";
import { folder } from "../train/world.ts";

/** @param rows of a JSONL file. @returns the imported records. */
export async function brought(from: "minari" | "verifiers", ...rows: readonly unknown[]) {
  const file = join(folder(), "rows.jsonl");
  writeFileSync(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  const production = await openTrafficStore(":memory:");
  try {
    const imported = await importFile(production, file, { from, now: 1_800_000_000_000 });
    return {
      imported,
      responses: await Array.fromAsync(production.responses()),
      signals: await Array.fromAsync(production.signals()),
    };
  } finally {
    await production.close();
  }
}
