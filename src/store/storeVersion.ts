/** Whether a store is one of this version. */
import type { DatabaseSync } from "node:sqlite";
import { WhetstoneError } from "../core/errors.ts";
import { migrations } from "./migrations.ts";

const known = new Set(Object.keys(migrations("blob")));

/** The steps by which the tables of a file were made. */
export const stepsIn = (database: DatabaseSync): readonly string[] =>
  database
    .prepare("select name from kysely_migration")
    .all()
    .map(({ name }) => String(name));

/** @throws WhetstoneError `store.failed`. */
export function requireNotNewer(where: string, steps: readonly string[]): void {
  if (steps.every((step) => known.has(step))) return;
  throw new WhetstoneError("store.failed", {
    where: `store ${where}`,
    got: "a store of a newer version of Whetstone",
    expected: "a store of this version or an older one",
    fix: "Update Whetstone, or choose another store.",
  });
}

/** @throws WhetstoneError `store.failed` for a store of another version; `name.unknown` where there is none. */
export function requireVersion(where: string, steps: readonly string[]): void {
  requireNotNewer(where, steps);
  if (steps.length === known.size) return;
  if (steps.length === 0)
    throw new WhetstoneError("name.unknown", {
      where: "store",
      got: `${where}, which holds none`,
      expected: "an existing store",
      fix: "Name another one; a store is given with --store or WHETSTONE_STORE.",
    });
  throw new WhetstoneError("store.failed", {
    where: `store ${where}`,
    got: "a store of an older version of Whetstone",
    expected: "a store of this version",
    fix: "Any command that opens it brings it to this version, such as whetstone keys list with this --store.",
  });
}
