/** The commands of the pages run, and print what the page says: a block of `text` right below is what was printed. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { missing } from "./printed.ts";
import { notRun, readers } from "./reader.ts";
import { blocksOf, pages, root, walk } from "./walk.ts";

const hasCurl = spawnSync("curl", ["--version"]).status === 0;

for (const page of pages) {
  const blocks = blocksOf(page).filter(({ name }) => !(name in notRun));
  if (blocks.length === 0) continue;
  const missesCurl = !hasCurl && blocks.some(({ commands }) => /^curl /m.test(commands));
  test(`${page}: its commands run, and print what it says`, {
    skip: missesCurl && "curl is not on this machine",
  }, async () => {
    const { code, text, came } = await walk(page, blocks);
    assert.equal(code, 0, text);
    for (const { name, printed = "" } of blocks)
      assert.deepEqual(missing(printed, came.get(name) ?? ""), [], `${name} printed\n${came.get(name)}`);
  });
}

test("commands stand in blocks that are run", () => {
  for (const page of pages) {
    let fence: string | undefined;
    for (const line of readFileSync(join(root, page), "utf8").split("\n")) {
      if (line.startsWith("```")) fence = fence === undefined ? line.slice(3) : undefined;
      const isCode = fence !== undefined || line.startsWith("    ");
      if (!isCode || fence === "sh" || fence === "bash") continue;
      assert.doesNotMatch(
        line.replace(/^ {4}/, ""),
        /^(npx )?whetstone [a-z]/,
        `${page}: make it a block of bash`,
      );
    }
  }
});

test("what is said of a block is said of one that is there", () => {
  const names = new Set(pages.flatMap((page) => blocksOf(page).map(({ name }) => name)));
  for (const name of Object.keys(notRun)) assert.ok(names.has(name), name);
  for (const page of Object.keys(readers)) assert.ok(pages.includes(page), page);
});
