/** What the npm package carries beside the code. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { test } from "node:test";
import { asInPackage, asInRepository } from "../../scripts/examples.ts";

const root = join(import.meta.dirname, "../..");
const read = (file: string): string => readFileSync(join(root, file), "utf8");

/** Files of the package, without those that a build makes. */
function packed(): ReadonlySet<string> {
  const told = execFileSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], {
    cwd: root,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
    shell: process.platform === "win32",
  });
  // npm 11 answers with an object by name, earlier ones with a list
  const [made] = Object.values(JSON.parse(told) as Record<string, { files: readonly { path: string }[] }>);
  return new Set(made?.files.map(({ path }) => path));
}

test("the package carries what its README links and shows, and the guides that its guides link", () => {
  const files = packed();
  const guides = [...files].filter((file) => /^(README|CONTRIBUTING|docs\/.*)\.md$/.test(file));
  assert.ok(guides.length > 30, `${guides.length} guides`);
  const absent: string[] = [];
  for (const guide of guides)
    for (const [, link, shown] of read(guide).matchAll(
      /\]\((?!https?:)([^)#\s]+)|(?:src|srcset)="(?!https?:)([^"]+)"/g,
    )) {
      const file = posix.join(posix.dirname(guide), (link ?? shown)!);
      // sources that the guides point at, and most pictures of the dashboard, are in the repository alone
      const isNeeded =
        guide === "README.md" || /^(docs|examples|bench)\/.*\.(md|ts|svg)$|^[A-Z]+\.md$/.test(file);
      if (isNeeded && !files.has(file)) absent.push(`${guide}: ${file}`);
    }
  assert.deepEqual(absent, []);
});

test("examples import the sources here and the package there, names that it exports", () => {
  const [, ...sections] = read("api-report.txt").split(/^## (?=whetstone)/m);
  const exported = new Map(
    sections.map((section) => [
      section.split(" ", 1)[0]!,
      new Set([...section.matchAll(/^([\w$]+):/gm)].map(([, name]) => name!)),
    ]),
  );
  const examples = globSync("examples/**/*.ts", { cwd: root, exclude: ["examples/browser/**"] }).map((file) =>
    file.replaceAll("\\", "/"),
  );
  assert.ok(examples.length > 10);
  for (const file of examples) {
    const text = read(file);
    const there = asInPackage(text, file);
    assert.equal(asInRepository(there, file), text, file);
    assert.ok(!/["'](\.\.\/)+src\//.test(there), `${file} imports a source that is no room's index`);
    for (const [, names = "", from = ""] of there.matchAll(
      /import (?:type )?\{([^}]*)\} from "(whetstone[^"]*)"/g,
    ))
      for (const [name] of names.matchAll(/(?<!\bas )\b(?!type\b|as\b)[\w$]+/g))
        assert.ok(exported.get(from)?.has(name), `${file}: ${name} of ${from}`);
  }
});
