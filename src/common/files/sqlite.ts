import { WhetstoneError } from "../../core/errors.ts";

/** Loads `node:sqlite` without the experimental warning of Node 22; all other warnings are printed. */
export function sqlite(): typeof import("node:sqlite") {
  const warn = process.emitWarning;
  process.emitWarning = (warning: string | Error, ...rest: unknown[]): void => {
    if (!/SQLite is an experimental feature/.test(String(warning)))
      Reflect.apply(warn, process, [warning, ...rest]);
  };
  try {
    const found = process.getBuiltinModule("node:sqlite");
    if (found !== undefined) return found;
  } finally {
    process.emitWarning = warn;
  }
  throw new WhetstoneError("store.failed", {
    where: "store",
    got: `Node ${process.versions.node} without SQLite`,
    expected: "a Node version with node:sqlite",
    fix: "Install Node 22.18 or newer.",
  });
}
