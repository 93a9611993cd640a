/** Reads what the package exports, by subpath: each name with its docstring and its declarations, as tsc writes them. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";

const root = join(import.meta.dirname, "..");

/** An exported name. */
export interface PublicName {
  readonly name: string;
  /** Source file of its declaration, from src/, and the name that it has there. */
  readonly file: string;
  readonly own: string;
  /** Its docstring without the comment's marks; undefined where there is none. */
  readonly doc: string | undefined;
  /** Its declarations (a function may have several), comments of members included. */
  readonly declarations: readonly string[];
}

/** A subpath of the package; `names` is undefined where package.json names a file that is not built. */
export interface Subpath {
  readonly subpath: string;
  readonly types: string;
  readonly names: readonly PublicName[] | undefined;
}

interface PackageJson {
  readonly exports: Readonly<Record<string, string | { readonly types: string }>>;
}

/** Every subpath of package.json that names one module. Compiles the declarations, which takes seconds. */
export function publicApi(): readonly Subpath[] {
  const emitted = mkdtempSync(join(tmpdir(), "whetstone-api-"));
  try {
    execFileSync(
      join(root, "node_modules", ".bin", "tsc"),
      ["-p", "tsconfig.build.json", "--emitDeclarationOnly", "--declaration", "--outDir", emitted],
      { cwd: root, stdio: "inherit", shell: process.platform === "win32" },
    );
    const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as PackageJson;
    return Object.entries(exports).flatMap(([subpath, to]) => {
      if (typeof to === "string" || subpath.includes("*")) return [];
      const file = to.types.replace("./dist", emitted);
      return [{ subpath, types: to.types, names: existsSync(file) ? namesOf(file, emitted) : undefined }];
    });
  } finally {
    rmSync(emitted, { recursive: true, force: true });
  }
}

const namesOf = (file: string, emitted: string): readonly PublicName[] =>
  [...exportsOf(file)]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, source]) => ({
      name,
      file: relative(emitted, source.file).replace(".d.ts", ".ts"),
      own: source.name,
      ...declarationOf(source),
    }));

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

/** The declarations of a name, with the docstring before the first. */
function declarationOf({ file, name }: Source): Pick<PublicName, "doc" | "declarations"> {
  const text = textOf(file);
  const start = new RegExp(
    `^(?:export )?(?:declare )?(?:abstract )?(?:const|function|interface|type|class) ${name}\\b`,
    "gm",
  );
  const places = [...text.matchAll(start)].map(({ index }) => index);
  return {
    doc: places[0] === undefined ? undefined : docBefore(text.slice(0, places[0])),
    declarations: places.map((place) => statementAt(text, place)),
  };
}

/** The docstring with which a text ends. */
function docBefore(text: string): string | undefined {
  if (!/\*\/\s*$/.test(text)) return undefined;
  return text
    .slice(text.lastIndexOf("/*"))
    .trim()
    .replace(/^\/\*+/, "")
    .replace(/\*+\/$/, "")
    .replaceAll(/^\s*\* ?/gm, "")
    .trim();
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
