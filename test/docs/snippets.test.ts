/**
 * Every block of TypeScript on the pages type-checks against the package. Where a block uses what its reader has, such as a task
 * list or a model of another library, `given` declares it. What is run besides is in docs.test.ts and guides.test.ts.
 */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { given, standsInProgram, unfinished } from "./given.ts";

const root = join(import.meta.dirname, "../..");
const src = join(root, "src");
const pages = globSync(["README.md", "CONTRIBUTING.md", "docs/**/*.md", "site/*.md", "bench/README.md"], {
  cwd: root,
}).sort();

/** By `page#number`, counted from 1. */
const blocks = new Map<string, string>(
  pages.flatMap((page) =>
    [...readFileSync(join(root, page), "utf8").matchAll(/^```(?:ts|tsx|typescript)\n(.*?)^```/gms)].map(
      ([, code], i) => [`${page}#${i + 1}`, code!] as const,
    ),
  ),
);

/** The block as a module below `folder`; a page about a paper's folder imports as from there. */
function moduleOf(name: string, code: string): string {
  const { before = "", after = "" } = given[name] ?? {};
  const here = code
    .replaceAll('"../../../', `"${src}/`)
    .replaceAll('"../../', `"${src}/methods/`)
    .replaceAll('"./method.ts"', '"./docs_adding-a-method_1.ts"');
  return `${before}${here}${after}\nexport {};\n`;
}

test("every block of TypeScript type-checks against the package", (t) => {
  // below the repository, where packages are found
  const folder = join(root, "node_modules/.cache/snippets");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  t.after(() => rmSync(folder, { recursive: true }));
  const checked = [...blocks].filter(
    ([name]) => !unfinished.has(name) && !standsInProgram.has(name.split("#")[0]!),
  );
  for (const [name, code] of checked) {
    const file = name.replace(".md#", "_").replaceAll("/", "_");
    writeFileSync(join(folder, `${file}.ts`), moduleOf(name, code));
  }
  writeFileSync(
    join(folder, "tsconfig.json"),
    JSON.stringify({
      extends: join(root, "tsconfig.json"),
      compilerOptions: {
        rootDir: root,
        rewriteRelativeImportExtensions: false,
        noUnusedLocals: false,
        noUnusedParameters: false,
        paths: {
          whetstone: [join(src, "index.ts")],
          "whetstone/browser": [join(src, "browser.ts")],
          "whetstone/*": [join(src, "*/index.ts")],
        },
      },
      include: ["*.ts"],
    }),
  );
  const said = (() => {
    try {
      return execFileSync(join(root, "node_modules/.bin/tsc"), ["-p", folder], { encoding: "utf8" });
    } catch (e) {
      return (e as { stdout: string }).stdout;
    }
  })();
  assert.equal(said, "");
  assert.ok(checked.length > 25, `${checked.length} blocks`);
});

test("nothing is given to a block that is gone", () => {
  for (const name of [...Object.keys(given), ...unfinished]) assert.ok(blocks.has(name), name);
});
