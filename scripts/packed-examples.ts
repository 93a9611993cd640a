/**
 * Lets the examples import the package by its name while it is packed, and the sources again afterwards: in the repository they
 * run without a build, in the package there are no sources.
 *
 *     node scripts/packed-examples.ts add|remove
 */
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { asInPackage, asInRepository } from "./examples.ts";

const root = join(import.meta.dirname, "..");
const written = process.argv[2] === "add" ? asInPackage : asInRepository;
for (const file of globSync("examples/**/*.ts", { cwd: root, exclude: ["examples/browser/**"] })) {
  const text = readFileSync(join(root, file), "utf8");
  const changed = written(text, file);
  if (changed !== text) writeFileSync(join(root, file), changed);
}
