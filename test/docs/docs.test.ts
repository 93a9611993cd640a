import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

const root = join(import.meta.dirname, "../..");
const pages = [
  "README.md",
  ...readdirSync(join(root, "docs"))
    .filter((f) => f.endsWith(".md"))
    .map((f) => `docs/${f}`),
];

function run(
  command: string,
  args: readonly string[],
  cwd: string,
): Promise<{ code: number | null; text: string }> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd, stdio: ["ignore", "pipe", "pipe"] });
    let text = "";
    child.stdout.on("data", (d) => (text += d));
    child.stderr.on("data", (d) => (text += d));
    child.on("close", (code) => resolve({ code, text }));
  });
}

for (const page of pages) {
  const blocks = [...readFileSync(join(root, page), "utf8").matchAll(/```sh\n(.*?)```/gs)].map((m) => m[1]!);
  for (const [i, block] of blocks.entries()) {
    test(`${page}: the commands of block ${i + 1} run`, async () => {
      const folder = mkdtempSync(join(tmpdir(), "whetstone-docs-"));
      for (const line of block.trim().split("\n")) {
        const [npx, name, ...args] = line.split(" ");
        assert.deepEqual([npx, name], ["npx", "whetstone"], line);
        const { code, text } = await run(process.execPath, [join(root, "src/cli/main.ts"), ...args], folder);
        assert.equal(code, 0, `${line}\n${text}`);
      }
    });
  }
  test(`${page}: its links lead somewhere`, () => {
    const text = readFileSync(join(root, page), "utf8");
    for (const [, target] of text.matchAll(/\]\((?!https?:)([^)#]+)\)/g)) {
      const found = readFileSync(join(root, page, "..", target!));
      assert.ok(found.length > 0, target);
    }
  });
}

test("README.md: its code stands in a program that is run", () => {
  const programs = readdirSync(join(root, "examples"))
    .filter((f) => f.endsWith(".ts"))
    .map((f) => readFileSync(join(root, "examples", f), "utf8"));
  const blocks = [...readFileSync(join(root, "README.md"), "utf8").matchAll(/```ts\n(.*?)```/gs)].map(
    (m) => m[1]!,
  );
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
    const { code, text } = await run(process.execPath, [join(root, "examples", file), "--short"], root);
    assert.equal(code, 0, text);
  });
}
