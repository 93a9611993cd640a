/** Checks that methods' folders, tests, checks, evidence and docs agree, and that slot folders only hold shared pieces. Run by `npm run check`; prints every gap. */
import { globSync, readFileSync } from "node:fs";
import { join, relative, resolve, sep } from "node:path";
import { checkFiles, loadCheck } from "../src/cli/checkFiles.ts";
import { catalogue } from "../src/methods/catalogue.ts";
import { readEvidence } from "../src/methods/evidence.ts";
import { paperFolders } from "../src/methods/folders.ts";
import { importsOf } from "./check-imports.ts";

const root = join(import.meta.dirname, "..");
const gaps: string[] = [];
const checks = new Map(checkFiles().map((file) => [file.id, file]));
const documented = readFileSync(join(root, "docs", "methods.md"), "utf8");
const longest = 150;

/** Paths from the root with forward slashes, each with the files that it imports. */
const imports = new Map<string, readonly string[]>(
  globSync("{src,test,bench}/**/*.ts", { cwd: root }).map((file) => {
    const source = readFileSync(join(root, file), "utf8");
    const targets = importsOf(source).map(({ from }) => relative(root, resolve(root, file, "..", from)));
    return [plain(file), targets.map(plain)];
  }),
);
const importers = new Map<string, string[]>();
for (const [file, targets] of imports)
  for (const target of targets) importers.set(target, [...(importers.get(target) ?? []), file]);

function plain(path: string): string {
  return path.replaceAll(sep, "/");
}

for (const m of catalogue) {
  const need = (fine: boolean, gap: string): void => {
    if (!fine) gaps.push(`${m.id}: ${gap}`);
  };
  const folder = paperFolders.find(({ id }) => id === m.id)!;
  const file = plain(relative(root, join(folder.path, "method.ts")));
  need(m.family === folder.family, `its family is ${m.family}, but its folder is in ${folder.family}`);
  need(
    readFileSync(join(root, file), "utf8").split("\n").length <= longest,
    `${file} has more than ${longest} lines`,
  );
  for (const piece of imports.get(file) ?? []) {
    if (/^src\/(core|method)\//.test(piece)) continue;
    const tested = importers.get(piece)?.some((by) => by.endsWith(".test.ts"));
    need(tested === true, `no test of ${piece}`);
  }
  need((m.mechanism ?? "").length > 80, "no mechanism");
  need((m.equation ?? "").length > 10, "no equation");
  need(m.paper !== undefined, "no paper");
  need(documented.includes(`\`${m.id}\``), "not in docs/methods.md");
  if (m.family === "baseline") continue;
  const check = checks.get(m.id);
  need(check !== undefined, "no check.ts");
  if (check) need((await loadCheck(check.file)).id === m.id, "its check has another id");
  const evidence = readEvidence(m.id);
  need(evidence !== undefined, "no evidence.json");
  need(
    evidence?.verdict === "reproduced" || !evidence || evidence.notes !== undefined,
    "no notes on the reason of its failure",
  );
}

/** The users of a piece: papers, each counted once, other source files, and reports that measure it beside the papers. */
function usersOf(piece: string): ReadonlySet<string> {
  const by = (importers.get(piece) ?? []).filter(
    (file) => /^(?:src|bench)\//.test(file) && !file.endsWith("/index.ts") && !file.endsWith(".test.ts"),
  );
  return new Set(by.map((file) => /^src\/methods\/[^/]+\/[^/]+(?=\/)/.exec(file)?.[0] ?? file));
}
const rooms = "rollout,annotate,feedback,credit,advantage,objective,update,data";
for (const file of globSync(`src/{${rooms}}/*.ts`, { cwd: root }).map(plain)) {
  if (file.endsWith("/index.ts")) continue;
  const [user, ...others] = usersOf(file);
  if (user === undefined) gaps.push(`${file}: it has no users`);
  else if (others.length === 0 && user.startsWith("src/methods/"))
    gaps.push(`${file}: only ${user} uses it; it belongs there`);
}

for (const gap of gaps) console.error(gap);
if (gaps.length > 0) process.exitCode = 1;
else console.log(`catalogue: ${catalogue.length} entries, ${checks.size} checks, no gaps`);
