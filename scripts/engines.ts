/**
 * Adds the required Node version to package.json while the package is packed, and removes it afterwards. The repository
 * itself installs on any Node from 20 on, since it brings its own (the dev dependency `node`); with `engines` set, npm
 * would warn there without reason.
 *
 *     node scripts/engines.ts add|remove|refuse
 */
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { oldestNode } from "../src/cli/nodeVersion.ts";

const file = join(dirname(fileURLToPath(import.meta.url)), "..", "package.json");
const { engines: _, ...rest } = JSON.parse(readFileSync(file, "utf8")) as Record<string, unknown>;
const write = (value: unknown): void => writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`);

switch (process.argv[2]) {
  case "add":
    write({ ...rest, engines: { node: `>=${oldestNode}` } });
    break;
  case "remove":
    write(rest);
    break;
  default:
    // npm reads the manifest of a folder again after packing, when `engines` is gone
    console.error(
      "Publish the packed file, so that its `engines` reach the registry: npm pack && npm publish whetstone-*.tgz",
    );
    process.exit(1);
}
