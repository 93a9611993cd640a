/**
 * Writes api-report.txt: every name that the package exports, by subpath, with its signature. `--check` writes nothing and
 * fails where the file is not what the sources say, where the root exports too many names, or where a name has no docstring.
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";

const root = join(import.meta.dirname, "..");
const target = join(root, "api-report.txt");
/** Names that the root may export. */
const mostAtRoot = 70;

const emitted = mkdtempSync(join(tmpdir(), "whetstone-api-"));
process.on("exit", () => rmSync(emitted, { recursive: true, force: true }));
execFileSync(
  join(root, "node_modules", ".bin", "tsc"),
  ["-p", "tsconfig.build.json", "--emitDeclarationOnly", "--declaration", "--outDir", emitted],
  { cwd: root, stdio: "inherit", shell: process.platform === "win32" },
);

/** Where a name is declared, and under which name there. */
interface Source {
  readonly file: string;
  readonly name: string;
}

const texts = new Map<string, string>();
function textOf(file: string): string {
  const known = texts.get(file) ?? readFileSync(file, "utf8");
  texts.set(file, known);
  return known;
}

const resolved = (from: string, specifier: string): string =>
  join(dirname(from), specifier.replace(/\.[jt]s$/, ".d.ts"));

/** The names that a module exports, each with its declaration. */
function exportsOf(file: string): ReadonlyMap<string, Source> {
  const found = new Map<string, Source>();
  const text = textOf(file);
  for (const [, name] of text.matchAll(
    /^export (?:declare )?(?:abstract )?(?:const|function|interface|type|class) (\w+)/gm,
  ))
    found.set(name!, { file, name: name! });
  for (const [, names, from] of text.matchAll(/^export (?:type )?\{([^}]*)\}(?: from "([^"]+)")?;/gm)) {
    for (const part of names!.split(",").map((name) => name.trim().replace(/^type /, ""))) {
      if (part === "") continue;
      const [name = "", as = name] = part.split(" as ");
      const source = from === undefined ? { file, name } : exportsOf(resolved(file, from)).get(name);
      if (source) found.set(as, source);
    }
  }
  for (const [, from] of text.matchAll(/^export (?:type )?\* from "([^"]+)";/gm))
    for (const [name, source] of exportsOf(resolved(file, from!))) found.set(name, source);
  return found;
}

/** The declarations of a name (a function may have several), with the docstring before the first. */
function declarationOf({ file, name }: Source): { readonly doc: boolean; readonly signature: string } {
  const text = textOf(file);
  const start = new RegExp(
    `^(?:export )?(?:declare )?(?:abstract )?(?:const|function|interface|type|class) ${name}\\b`,
    "gm",
  );
  const places = [...text.matchAll(start)].map(({ index }) => index);
  const doc = places[0] !== undefined && /\*\/\s*$/.test(text.slice(0, places[0]));
  const signature = places.map((place) => plain(statementAt(text, place))).join("\n");
  return { doc, signature };
}

/** The statement that begins there: to the semicolon or the closing brace outside all brackets. */
function statementAt(text: string, place: number): string {
  let depth = 0;
  for (let i = place; i < text.length; i++) {
    if (text.startsWith("/*", i)) i = text.indexOf("*/", i) + 1;
    const c = text[i]!;
    if ("{([".includes(c)) depth++;
    if ("})]".includes(c)) depth--;
    if (depth === 0 && (c === ";" || (c === "}" && text[i + 1] === "\n"))) return text.slice(place, i + 1);
  }
  return text.slice(place);
}

const plain = (statement: string): string =>
  statement
    .replaceAll(/\/\*[\s\S]*?\*\//g, "")
    .replaceAll(/^(?:export )?(?:declare )?/g, "")
    .replaceAll(/\s*\n\s*/g, " ")
    .trim();

interface PackageJson {
  readonly exports: Readonly<Record<string, string | { readonly types: string }>>;
}
const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as PackageJson;
const lines = ["The public interface: written by `node scripts/api-report.ts`."];
const gaps: string[] = [];
for (const [subpath, to] of Object.entries(exports)) {
  if (typeof to === "string" || subpath.includes("*")) continue;
  const file = to.types.replace("./dist", emitted);
  if (!existsSync(file)) {
    gaps.push(`${subpath}: package.json names ${to.types}, which is not built`);
    continue;
  }
  const names = [...exportsOf(file)].sort(([a], [b]) => (a < b ? -1 : 1));
  lines.push("", `## whetstone${subpath.slice(1)} (${names.length})`, "");
  if (subpath === "." && names.length > mostAtRoot)
    gaps.push(`the root exports ${names.length} names, more than ${mostAtRoot}`);
  for (const [name, source] of names) {
    const { doc, signature } = declarationOf(source);
    lines.push(`${name}: ${signature}`);
    if (!doc)
      gaps.push(`${relative(emitted, source.file).replace(".d.ts", ".ts")}: ${source.name} has no docstring`);
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
