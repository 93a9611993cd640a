/**
 * Checks which folders import which, by the table below, that no files import each other, and that no file is too long. Run
 * by `npm run check`; prints every violation.
 */
import { globSync, readFileSync } from "node:fs";
import { dirname, join, posix, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";

/** Contracts that slot pieces and all code above them may import. */
const contracts = ["env/environment.ts", "env/contract.ts", "engine/engine.ts"];
const slots = ["rollout", "annotate", "feedback", "credit", "advantage", "objective", "update", "data"];
const everything = ["*"];
/** The contract of all engines, and the code that they share. */
const engines = ["core", "common", "engine/engine.ts", "engine/requests.ts", "engine/choices.ts"];

/**
 * What each path under src/ may import besides itself: folders, single files, or everything. The longest matching path
 * applies.
 */
export const rules: Readonly<Record<string, readonly string[]>> = {
  core: [],
  common: ["core"],
  tensor: ["core", "common"],
  engine: ["core", "common"],
  "engine/index.ts": ["core", "common", "engine"],
  "engine/tabular": engines,
  "engine/local": [...engines, "tensor", "sandbox/thread.ts"],
  "engine/tinker": engines,
  "engine/chat": engines,
  sandbox: ["core", "common"],
  http: ["core", "common"],
  env: ["core", "common", "sandbox", "http"],
  store: ["core", "common"],
  exchange: ["core", "common", "store"],
  offpolicy: ["core", "common"],
  release: ["core", "common", "offpolicy", "store"],
  client: [],
  evaluator: ["core", "common", ...contracts],
  rollout: ["core", "common", ...contracts],
  annotate: ["core", "common", ...contracts],
  feedback: ["core", "common", ...contracts],
  credit: ["core", "common"],
  advantage: ["core", "common"],
  objective: ["core", "common"],
  update: ["core", "common", ...contracts],
  data: ["core", "common", ...contracts],
  helper: ["core", "common", "tensor", ...contracts],
  memory: ["core", "common", ...contracts],
  method: ["core", "common", ...slots, "evaluator", "helper", "memory"],
  worlds: ["core", "common", "env", "sandbox"],
  "worlds/arms": everything,
  methods: [
    "core",
    "common",
    "env",
    "sandbox",
    "method",
    "diagnose",
    ...slots,
    "evaluator",
    "helper",
    "memory",
    "worlds",
    "discover/archive.ts",
    "train/check.ts",
  ],
  train: [
    "core",
    "common",
    "store",
    "exchange",
    "env/loggedPrompts.ts",
    "method",
    "diagnose",
    ...slots,
    "evaluator",
    "helper",
    "memory",
    ...contracts,
  ],
  discover: ["core", "common", "method", ...slots, ...contracts],
  arenas: ["core", "common", "env", "engine", "method", "train"],
  diagnose: ["core", "common", "store", "method", ...slots, "evaluator", "helper", "memory", ...contracts],
  suite: ["core", "common", "env", "rollout", "helper", "train", "diagnose"],
  serve: everything,
  cli: everything,
  "index.ts": everything,
  "browser.ts": everything,
};

export interface Violation {
  /** Path under src/ with forward slashes. */
  readonly file: string;
  readonly line: number;
  readonly imports: string;
  readonly why: string;
}

const within = (path: string, place: string): boolean => path === place || path.startsWith(`${place}/`);

/** The longest path of the table that contains the file. */
export function placeOf(path: string): string | undefined {
  return Object.keys(rules)
    .filter((place) => within(path, place))
    .sort((a, b) => b.length - a.length)[0];
}

/** Relative imports in a source text, with their line numbers. Statements begin a line, as the formatter writes them. */
export function importsOf(source: string): { readonly from: string; readonly line: number }[] {
  const found: { from: string; line: number }[] = [];
  const lines = source.split("\n");
  for (const [i, text] of lines.entries()) {
    if (/^\s*(\*|\/\/)/.test(text)) continue;
    const stated = /^(?:import|export|\})(?:.*?\sfrom)?\s*"(\.[^"]*)"/.exec(text);
    if (stated) found.push({ from: stated[1]!, line: i + 1 });
    for (const called of text.matchAll(/\bimport\(\s*"(\.[^"]*)"/g))
      found.push({ from: called[1]!, line: i + 1 });
  }
  return found;
}

/** The folder of the paper that a file belongs to. */
const paperOf = (path: string): string | undefined => /^methods\/[^/]+\/[^/]+(?=\/)/.exec(path)?.[0];
/** Files that run a method (checks and tests) are not part of it: they may import anything except other papers. */
const runsMethod = (path: string): boolean => /\/check\.ts$|\.test\.ts$/.test(path);

/** A paper must be deletable, so no other one may import it. Only the baselines stay. */
function isOtherPaper(path: string, target: string): boolean {
  const paper = paperOf(target);
  return paper !== undefined && paperOf(path) !== paper && !paper.startsWith("methods/baseline/");
}

/** @param path of the file under src/, with forward slashes. */
export function checkFile(path: string, source: string): Violation[] {
  const place = placeOf(path);
  if (place === undefined) {
    return [
      {
        file: path,
        line: 1,
        imports: "",
        why: "is in a folder without import rules; add the folder to scripts/check-imports.ts",
      },
    ];
  }
  const allowed = rules[place]!;
  const room = path.split("/")[0]!;
  const out: Violation[] = [];
  for (const { from, line } of importsOf(source)) {
    const target = posix.normalize(posix.join(posix.dirname(path), from));
    if (isOtherPaper(path, target)) {
      out.push({
        file: path,
        line,
        imports: target,
        why: "papers must be deletable: nothing outside may import them",
      });
      continue;
    }
    if (paperOf(path) && runsMethod(path)) continue;
    // a path may import itself; files directly in a folder with parts do not count as one of its parts
    if (target.startsWith("../") || (within(target, place) && placeOf(target) === place)) continue;
    if (place.endsWith(".ts") && within(target, room)) continue;
    if (allowed.some((a) => a === "*" || within(target, a))) continue;
    out.push({
      file: path,
      line,
      imports: target,
      why: `${place} may import ${["itself", ...allowed].join(", ")}`,
    });
  }
  return out;
}

export function checkFolder(src: string): Violation[] {
  return globSync("**/*.ts", { cwd: src })
    .map((file) => file.split(sep).join("/"))
    .sort()
    .flatMap((file) => checkFile(file, readFileSync(join(src, file), "utf8")));
}

/**
 * Files that import each other, directly or by way of others, types included. Each circle is named by its files in
 * alphabetical order.
 * @param imports of each file, by its path; imports of other files than these are ignored.
 */
export function circlesIn(imports: ReadonlyMap<string, readonly string[]>): string[][] {
  const found: string[][] = [];
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const open: string[] = [];
  const isOpen = new Set<string>();
  // Tarjan's strongly connected components
  function visit(file: string): number {
    const own = order.size;
    order.set(file, own);
    lowest.set(file, own);
    open.push(file);
    isOpen.add(file);
    for (const target of imports.get(file) ?? []) {
      if (!imports.has(target)) continue;
      const reached = !order.has(target) ? visit(target) : isOpen.has(target) ? order.get(target)! : own;
      lowest.set(file, Math.min(lowest.get(file)!, reached));
    }
    if (lowest.get(file) === own) {
      const circle = open.splice(open.indexOf(file));
      for (const one of circle) isOpen.delete(one);
      if (circle.length > 1 || imports.get(file)?.includes(file)) found.push(circle.sort());
    }
    return lowest.get(file)!;
  }
  for (const file of imports.keys()) if (!order.has(file)) visit(file);
  return found.sort((a, b) => (a[0]! < b[0]! ? -1 : 1));
}

/** Whether a circle is allowed: the gradient of an operation on tensors is another one, whose gradient is the first. */
const isAllowed = (circle: readonly string[]): boolean =>
  circle.every((file) => file.startsWith("tensor/ops/"));

/** The circles of a folder's files that are not allowed; tests are left out. */
export function circlesOf(src: string): string[][] {
  const files = globSync("**/*.ts", { cwd: src })
    .map((file) => file.split(sep).join("/"))
    .filter((file) => !file.endsWith(".test.ts"));
  const imports = files.map((file): [string, string[]] => [
    file,
    importsOf(readFileSync(join(src, file), "utf8")).map(({ from }) => posix.join(posix.dirname(file), from)),
  ]);
  return circlesIn(new Map(imports)).filter((circle) => !isAllowed(circle));
}

/** Most lines of a file that people read. */
const mostLines = 400;

/** The sources that are too long, with their lines; tests, data and generated files are left out. @param root of the repository. */
export function tooLong(root: string): { readonly file: string; readonly lines: number }[] {
  return globSync(["src/**/*.ts", "scripts/**/*.ts", "web/src/**/*.{ts,tsx}"], { cwd: root })
    .map((file) => file.split(sep).join("/"))
    .filter((file) => !/\.(test|data|generated)\.tsx?$/.test(file))
    .map((file) => ({ file, lines: readFileSync(join(root, file), "utf8").split("\n").length - 1 }))
    .filter(({ lines }) => lines > mostLines);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = join(dirname(fileURLToPath(import.meta.url)), "..");
  const src = join(root, "src");
  const violations = checkFolder(src);
  for (const v of violations) {
    console.error(`${relative(process.cwd(), join(src, v.file))}:${v.line}: imports ${v.imports}; ${v.why}`);
  }
  const circles = circlesOf(src);
  for (const files of circles) console.error(`import each other: ${files.join(", ")}`);
  const long = tooLong(root);
  for (const { file, lines } of long) console.error(`${file}: ${lines} lines, ${mostLines} at most`);
  if (violations.length > 0 || circles.length > 0 || long.length > 0) process.exit(1);
  console.log(`imports: no violations, no circles, no file above ${mostLines} lines`);
}
