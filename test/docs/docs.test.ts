/** What the pages say can be done: their links lead somewhere, their programs run, their code is a program's. Commands: guides.test.ts. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { inProcess } from "../cli/inProcess.ts";

const root = join(import.meta.dirname, "../..");
const pages = [
  "README.md",
  ...readdirSync(join(root, "docs"))
    .filter((f) => f.endsWith(".md"))
    .map((f) => `docs/${f}`),
];

/** A program in a process of its own, that nobody types anything into. */
function run(args: readonly string[], cwd: string): Promise<{ code: number | null; text: string }> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, args, { cwd, stdio: ["ignore", "pipe", "pipe"] });
    let text = "";
    child.stdout.on("data", (d) => (text += d));
    child.stderr.on("data", (d) => (text += d));
    child.on("close", (code) => resolve({ code, text }));
  });
}

for (const page of pages) {
  test(`${page}: its links lead somewhere`, () => {
    const text = readFileSync(join(root, page), "utf8");
    for (const [, target] of text.matchAll(/\]\((?!https?:)([^)#]+)\)/g)) {
      const found = readFileSync(join(root, page, "..", target!));
      assert.ok(found.length > 0, target);
    }
  });
}

test("what the pages import from the package is exported", () => {
  const report = readFileSync(join(root, "api-report.txt"), "utf8");
  const [, ...sections] = report.split(/^## (?=whetstone)/m);
  const exported = new Map(
    sections.map((section) => [
      section.split(" ", 1)[0]!,
      new Set([...section.matchAll(/^([\w$]+):/gm)].map(([, name]) => name!)),
    ]),
  );
  const wrong: string[] = [];
  for (const page of pages) {
    const text = readFileSync(join(root, page), "utf8");
    for (const [, names, from] of text.matchAll(/import (?:type )?\{([^}]*)\} from "(whetstone[\w/-]*)"/g)) {
      for (const [name] of names!.matchAll(/(?<!\bas )\b(?!type\b|as\b)[\w$]+/g))
        if (!exported.get(from!)?.has(name)) wrong.push(`${page}: ${name} of ${from}`);
    }
  }
  assert.ok(exported.size > 10);
  assert.deepEqual(wrong, []);
});

test("docs/environments.md: the run in a script runs", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "whetstone-script-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const [, block = ""] =
    /## A run in a script\n[\s\S]*?```ts\n([\s\S]*?)```/.exec(
      readFileSync(join(root, "docs/environments.md"), "utf8"),
    ) ?? [];
  const source = JSON.stringify(pathToFileURL(join(root, "src/index.ts")).href);
  writeFileSync(join(folder, "script.mts"), block.replace('"whetstone"', source));
  const { code, text } = await run([join(folder, "script.mts")], folder);
  assert.equal(code, 0, text);
  assert.match(text, /^[\d.]+ \[/m);
  assert.ok(existsSync(join(folder, "runs/script-1/run.json")));
});

/** Blocks of TypeScript on a page. */
const codeOf = (page: string): readonly string[] =>
  [...readFileSync(join(root, page), "utf8").matchAll(/```ts\n(.*?)```/gs)].map(([, block]) => block!);

/** The programs of pages, and what they print: the capitals are learnt; a rating, a pair, a demonstration; tickets above chance. */
const programs = {
  "docs/from-trl.md": /^1$/m,
  "docs/from-langfuse.md": /^2 responses, 3 signals\n(.*\n)*pair\ndemonstration\n/,
  "docs/from-dspy.md": /^0\.[4-9]/m,
} as const;

for (const [page, comesTo] of Object.entries(programs))
  test(`${page}: its program runs`, async (t) => {
    const folder = mkdtempSync(join(tmpdir(), "whetstone-program-"));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    const blocks = codeOf(page);
    assert.equal(blocks.length, 1);
    const source = (path = ""): string =>
      JSON.stringify(pathToFileURL(join(root, "src", path, "index.ts")).href);
    const program = blocks[0]!.replaceAll(/"whetstone(\/[a-z]+)?"/g, (_, path?: string) => source(path));
    writeFileSync(join(folder, "program.mts"), program);
    const { code, text } = await run([join(folder, "program.mts")], folder);
    assert.equal(code, 0, text);
    assert.match(text, comesTo, text);
  });

for (const page of ["README.md", "docs/from-ai-sdk.md"])
  test(`${page}: its code stands in a program that is run`, () => {
    const programs = readdirSync(join(root, "examples"))
      .filter((f) => f.endsWith(".ts"))
      .map((f) => readFileSync(join(root, "examples", f), "utf8"));
    const blocks = codeOf(page);
    assert.ok(blocks.length > 0);
    for (const block of blocks)
      assert.ok(
        programs.some((text) => text.includes(block)),
        block,
      );
  });

for (const file of readdirSync(join(root, "examples")).filter((f) => f.endsWith(".ts"))) {
  // those that take more than seconds have a short form; the others reach the number that they state
  test(`examples/${file} runs`, async () => {
    const { code, text } = await run([join(root, "examples", file), "--short"], root);
    assert.equal(code, 0, text);
  });
}

for (const file of readdirSync(join(root, "examples/real")).filter((f) => f.endsWith(".ts"))) {
  // what they train takes a pretrained model and minutes: bench/real.ts
  test(`examples/real/${file} is an environment without findings`, async () => {
    const { code, out, err } = await inProcess([
      "validate",
      join(root, "examples/real", file),
      "--episodes",
      "5",
    ]);
    assert.equal(code, 0, err);
    assert.match(out, /No problems found/);
  });
}
