import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { routes } from "../../web/src/routes.ts";
import { pages } from "./world.ts";

const folder = await pages();
const read = (file: string): string => readFileSync(join(folder, file), "utf8");
const compressed = (file: string): number => gzipSync(readFileSync(join(folder, file))).length;

/** What a script cannot begin without: its static imports, and theirs. */
function needs(file: string, known = new Set<string>()): Set<string> {
  if (known.has(file)) return known;
  known.add(file);
  for (const [, name] of read(file).matchAll(/(?:\bfrom|\bimport)\s*["']\.\/([^"']+)["']/g)) {
    needs(join("assets", name!), known);
  }
  return known;
}

const entry = [...read("index.html").matchAll(/(?:src|href)="\/(assets\/[^"]+)"/g)].map(([, file]) => file!);
const first = new Set([
  "index.html",
  ...entry.flatMap((file) => (file.endsWith(".js") ? [...needs(file)] : [file])),
]);

test("the first load of the runs page is at most 300 kB compressed", () => {
  assert.ok(entry.some((file) => file.endsWith(".js")) && entry.some((file) => file.endsWith(".css")));
  const bytes = [...first].reduce((sum, file) => sum + compressed(file), 0);
  assert.ok(bytes <= 300_000, `${bytes} bytes`);
});

test("every other page is loaded when it is asked for", () => {
  const lazy = globSync("*.tsx", { cwd: join(import.meta.dirname, "..", "..", "web", "src", "pages") })
    .map((file) => file.replace(".tsx", ""))
    .filter((page) => page !== "runs");
  assert.ok(lazy.length >= 10);
  for (const page of lazy) {
    const [own] = globSync(`assets/${page}-*.js`, { cwd: folder });
    assert.ok(own, `${page} has no file of its own`);
    assert.ok(!first.has(own), `${page} comes with the runs page`);
  }
  // the charts are the largest part: the runs page does without
  assert.ok(![...first].some((file) => read(file).includes("uplot")));
});

test("each page's own scripts are written down for the server, and none of the first ones among them", () => {
  const scripts: Record<string, readonly string[]> = JSON.parse(read("scripts.json"));
  for (const [path, page] of Object.entries(routes)) {
    const files = scripts[path] ?? [];
    assert.ok(files[0]?.startsWith(`assets/${page}-`), path);
    const all = needs(files[0]!);
    assert.deepEqual(new Set(files), new Set([...all].filter((file) => !first.has(file))), path);
  }
});
