/** The commands of the pages run, and print what the page says: a block of `text` right below is what was printed. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { missing } from "./printed.ts";
import { notRun, readers } from "./reader.ts";
import { blocksOf, pages, walk } from "./walk.ts";

for (const page of pages) {
  const blocks = blocksOf(page).filter(({ name }) => !(name in notRun));
  if (blocks.length === 0) continue;
  test(`${page}: its commands run, and print what it says`, async () => {
    const { code, text, came } = await walk(page, blocks);
    assert.equal(code, 0, text);
    for (const { name, printed = "" } of blocks)
      assert.deepEqual(missing(printed, came.get(name) ?? ""), [], `${name} printed\n${came.get(name)}`);
  });
}

test("what is said of a block is said of one that is there", () => {
  const names = new Set(pages.flatMap((page) => blocksOf(page).map(({ name }) => name)));
  for (const name of Object.keys(notRun)) assert.ok(names.has(name), name);
  for (const page of Object.keys(readers)) assert.ok(pages.includes(page), page);
});
