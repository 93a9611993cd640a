/** Catalogue, folders, tests, checks, evidence and docs agree. Run by `npm run check`; prints every gap. */
import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { checkFiles, loadCheck } from "../src/cli/check-files.ts";
import { methods } from "../src/method/catalogue.ts";
import { readEvidence } from "../src/train/evidence.ts";

const root = join(import.meta.dirname, "..");
const gaps: string[] = [];
const tests = globSync("test/**/*.test.ts", { cwd: root })
  .map((file) => readFileSync(join(root, file), "utf8"))
  .join("\n");
const checks = new Map(checkFiles().map((file) => [file.id, file]));
const documented = readFileSync(join(root, "docs", "methods.md"), "utf8");
const longest = 150;
/** What methods may import of their own room. */
const shared = new Set(["../method.ts", "../settings.ts", "../baseline/slots.ts"]);

for (const m of methods) {
  const file = `src/method/${m.family}/${m.id}.ts`;
  const need = (fine: boolean, gap: string): void => {
    if (!fine) gaps.push(`${m.id}: ${gap}`);
  };
  need(existsSync(join(root, file)), `no file ${file}`);
  if (existsSync(join(root, file))) {
    const source = readFileSync(join(root, file), "utf8");
    need(source.split("\n").length <= longest, `more than ${longest} lines in ${file}`);
    for (const [, piece] of source.matchAll(/from "\.\.\/\.\.\/((?!core\/)[^"]+)"/g)) {
      need(tests.includes(`src/${piece}`), `no test of src/${piece}`);
    }
    for (const [, near] of source.matchAll(/from "(\.\.?\/(?!\.\.)[^"]+)"/g))
      need(shared.has(near!), `${file} imports another method`);
  }
  need((m.mechanism ?? "").length > 80, "no mechanism said");
  need((m.equation ?? "").length > 10, "no equation said");
  need(m.paper !== undefined, "no paper said");
  need(documented.includes(`\`${m.id}\``), "not in docs/methods.md");
  if (m.family === "baseline") continue;
  const check = checks.get(m.id);
  need(check?.family === m.family, `no checks/${m.family}/${m.id}.ts`);
  if (check) need((await loadCheck(check.path)).id === m.id, "its check has another id");
  const evidence = readEvidence(m.id);
  need(evidence !== undefined, `no evidence/${m.id}.json`);
  need(
    evidence?.verdict === "reproduced" || !evidence || evidence.notes !== undefined,
    "no notes on why it failed",
  );
}
for (const id of checks.keys()) {
  if (!methods.some((m) => m.id === id))
    gaps.push(`checks/${checks.get(id)!.family}/${id}.ts: no such method`);
}
for (const gap of gaps) console.error(gap);
if (gaps.length > 0) process.exitCode = 1;
else console.log(`catalogue: ${methods.length} methods, ${checks.size} checks, all of a piece`);
