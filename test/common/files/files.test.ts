import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { makeFolder, replaceFile } from "../../../src/common/files/files.ts";
import { isWhetstoneError } from "../../../src/core/errors.ts";

const folder = mkdtempSync(join(tmpdir(), "whetstone-files-"));

test("makeFolder makes every level, and is content with a folder that is there", async () => {
  const deep = join(folder, "a/b/c");
  await makeFolder(deep);
  await makeFolder(deep);
  assert.ok(existsSync(deep));
});

test("makeFolder refuses a file in the way, and a place where nothing can be made, at once", async () => {
  const file = join(folder, "file");
  writeFileSync(file, "");
  // in /proc the system answers "no such folder" to a new one: Node's own recursive mkdir never returns from there
  const places = [file, join(file, "under"), ...(process.platform === "linux" ? ["/proc/whetstone/x"] : [])];
  for (const place of places) {
    await assert.rejects(
      makeFolder(place),
      (e) => isWhetstoneError(e) && e.code === "folder.unwritable",
      place,
    );
  }
});

test("replaceFile leaves the new text and nothing aside", async () => {
  const file = join(folder, "state.json");
  await replaceFile(file, "one");
  await replaceFile(file, "two");
  assert.equal(readFileSync(file, "utf8"), "two");
  assert.equal(existsSync(`${file}.partial`), false);
});

test("makeFolder: many that make the same folder at once, and those above it", async () => {
  for (let round = 0; round < 20; round++) {
    const path = join(folder, "at once", String(round), "a", "b");
    await Promise.all(Array.from({ length: 8 }, () => makeFolder(path)));
    assert.ok(existsSync(path));
  }
});

test("replaceFile: many that write one file at once leave one of their texts, whole, and nothing aside", async () => {
  const own = join(folder, "shared");
  await makeFolder(own);
  const file = join(own, "reply.json");
  const texts = Array.from({ length: 16 }, (_, i) => String(i).repeat(50_000));
  await Promise.all(texts.map((text) => replaceFile(file, text, { shared: true })));
  assert.ok(texts.includes(readFileSync(file, "utf8")));
  assert.deepEqual(readdirSync(own), ["reply.json"]);
});
