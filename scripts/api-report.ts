/**
 * Writes api-report.txt: every name that the package exports, by subpath, with its signature. `--check` writes nothing and
 * fails where the file is not what the sources say, where the root exports too many names, or where a name has no docstring.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { publicApi } from "./publicApi.ts";

const target = join(import.meta.dirname, "..", "api-report.txt");
/** Names that the root may export. */
const mostAtRoot = 70;

const plain = (statement: string): string =>
  statement
    .replaceAll(/\/\*[\s\S]*?\*\//g, "")
    .replaceAll(/^(?:export )?(?:declare )?/g, "")
    .replaceAll(/\s*\n\s*/g, " ")
    .trim();

const lines = ["The public interface: written by `node scripts/api-report.ts`."];
const gaps: string[] = [];
for (const { subpath, types, names } of publicApi()) {
  if (!names) {
    gaps.push(`${subpath}: package.json names ${types}, which is not built`);
    continue;
  }
  lines.push("", `## whetstone${subpath.slice(1)} (${names.length})`, "");
  if (subpath === "." && names.length > mostAtRoot)
    gaps.push(`the root exports ${names.length} names, more than ${mostAtRoot}`);
  for (const { name, file, own, doc, declarations } of names) {
    lines.push(`${name}: ${declarations.map(plain).join("\n")}`);
    if (doc === undefined) gaps.push(`${file}: ${own} has no docstring`);
  }
}
const text = `${lines.join("\n")}\n`;
if (process.argv.includes("--check")) {
  if (!existsSync(target) || readFileSync(target, "utf8") !== text)
    gaps.push(
      "api-report.txt is not what the sources say. If the change is meant: node scripts/api-report.ts",
    );
} else writeFileSync(target, text);
for (const gap of new Set(gaps)) console.error(gap);
if (gaps.length > 0) process.exitCode = 1;
else console.log(`api: ${lines.length} lines as they were reported, each name with its docstring`);
