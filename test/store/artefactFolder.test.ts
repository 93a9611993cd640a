import assert from "node:assert/strict";
import { fork } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { writtenBy } from "../../src/common/artefacts/origins.ts";
import { type ArtefactVersion, artefactId, artefactVersion } from "../../src/core/artefact.ts";
import { dropParts, readArtefactFolder, writeArtefactFolder } from "../../src/store/artefactFolder.ts";
import { holding } from "../../src/store/folderLock.ts";
import { withCode } from "../train/world.ts";

const root = mkdtempSync(join(tmpdir(), "whetstone-artefacts-"));
after(() => rmSync(root, { recursive: true, force: true }));

const version = (...texts: readonly string[]): ArtefactVersion =>
  artefactVersion({
    name: "lessons",
    artefact: {
      kind: "experience",
      entries: texts.map((text) => ({
        id: text,
        kind: "strategy",
        when: "",
        text,
        score: 0,
        shown: 0,
        origins: { ...writtenBy("reflection"), from: { ...writtenBy("").from, users: [`user-of-${text}`] } },
      })),
    },
    parents: [],
    why: "first",
    origins: writtenBy("reflection"),
    created: 1,
  });

test("a version is read as it was written", async () => {
  const folder = join(root, "same");
  await writeArtefactFolder(folder, version("a", "b"));
  assert.deepEqual(await readArtefactFolder(folder), { version: version("a", "b"), edited: false });
});

test("files that were edited by hand are a version of their own, made from the one that was written", async () => {
  const folder = join(root, "edited");
  const written = version("a", "b");
  await writeArtefactFolder(folder, written);
  const file = join(folder, "lessons.md");
  writeFileSync(file, `${readFileSync(file, "utf8")}\n## warning\n\nNot at night.\n`);
  const { version: read, edited } = await readArtefactFolder(folder, 7);
  assert.ok(edited);
  assert.ok(read.artefact.kind === "experience");
  assert.deepEqual(
    read.artefact.entries.map(({ text }) => text),
    ["a", "b", "Not at night."],
  );
  assert.deepEqual(
    [read.parents, read.why, read.created, read.id],
    [[written.id], "edited by hand", 7, artefactId(read.artefact)],
  );
});

test("whoever was overtaken is told so, and undoes nothing", async () => {
  const folder = join(root, "overtaken");
  const [first, second, third] = [version("a"), version("a", "b"), version("a", "c")];
  await writeArtefactFolder(folder, first, { over: "nothing" });
  await writeArtefactFolder(folder, second, { over: first.id });
  await assert.rejects(writeArtefactFolder(folder, third, { over: first.id }), withCode("store.refused"));
  await assert.rejects(writeArtefactFolder(folder, third, { over: "nothing" }), /got .*expected no artefact/);
  assert.equal((await readArtefactFolder(folder)).version.id, second.id);
  writeFileSync(join(folder, "lessons.md"), "## strategy `a`\n\nanother\n");
  await assert.rejects(writeArtefactFolder(folder, third, { over: second.id }), /edited by hand/);
});

test("parts made from somebody's data leave the folder", async () => {
  const folder = join(root, "dropped");
  await writeArtefactFolder(folder, version("a", "b"));
  assert.equal(await dropParts(folder, ({ from }) => from.users.includes("user-of-a")), 1);
  const { version: left, edited } = await readArtefactFolder(folder);
  assert.ok(left.artefact.kind === "experience" && !edited);
  assert.deepEqual(
    left.artefact.entries.map(({ id }) => id),
    ["b"],
  );
  assert.deepEqual([left.id, left.erased], [version("a", "b").id, 1]);
  assert.ok(!readFileSync(join(folder, "about.json"), "utf8").includes("user-of-a"));
  assert.equal(await dropParts(join(root, "none"), () => true), 0);
});

test("what somebody put beside an artefact stays when that is replaced", async () => {
  const folder = join(root, "beside");
  await writeArtefactFolder(folder, version("a"));
  writeFileSync(join(folder, "notes.txt"), "ask Ann");
  mkdirSync(join(folder, "old drafts"));
  writeFileSync(join(folder, "old drafts", "system.md"), "another");
  await writeArtefactFolder(folder, version("b"));
  assert.equal(readFileSync(join(folder, "notes.txt"), "utf8"), "ask Ann");
  assert.equal(readFileSync(join(folder, "old drafts", "system.md"), "utf8"), "another");
  assert.equal((await readArtefactFolder(folder)).version.id, version("b").id);
});

test("a writer that was killed between two states leaves the one before, and nothing aside that erasing does not reach", async () => {
  const folder = join(root, "killed");
  const cut = async (): Promise<void> => {
    await writeArtefactFolder(folder, version("a", "b"));
    renameSync(folder, `${folder}.old`);
    mkdirSync(`${folder}.partial`);
    writeFileSync(join(`${folder}.partial`, "lessons.md"), "## strategy\n\nof user-of-a\n");
  };
  await cut();
  assert.equal((await readArtefactFolder(folder)).version.id, version("a", "b").id);
  await cut();
  await writeArtefactFolder(folder, version("c"), { over: version("a", "b").id });
  await cut();
  assert.equal(await dropParts(folder, ({ from }) => from.users.includes("user-of-a")), 1);
  assert.ok(!existsSync(`${folder}.old`) && !existsSync(`${folder}.partial`));
  assert.ok(!readFileSync(join(folder, "about.json"), "utf8").includes("user-of-a"));
});

test("erasing waits for whoever is replacing the folder, which is not there for a moment", async () => {
  const folder = join(root, "absent");
  await writeArtefactFolder(folder, version("a", "b"));
  const meanwhile = await holding(folder, async () => {
    renameSync(folder, `${folder}.elsewhere`);
    const dropping = dropParts(folder, ({ from }) => from.users.includes("user-of-a"));
    await pause(20);
    renameSync(`${folder}.elsewhere`, folder);
    return { dropping };
  });
  assert.equal(await meanwhile.dropping, 1);
});

test("a folder without an artefact, or with a broken one, is refused in words", async () => {
  await assert.rejects(readArtefactFolder(join(root, "none")), withCode("import.invalid"));
  const folder = join(root, "broken");
  await writeArtefactFolder(folder, version("a"));
  writeFileSync(join(folder, "artefact.json"), '{"format":2}');
  await assert.rejects(readArtefactFolder(folder), /format/);
});

test("several processes add to one library at once, and every addition is there in the end", async () => {
  const folder = join(root, "shared");
  await writeArtefactFolder(folder, version("start"));
  const writers = ["p", "q", "r"].map((name) =>
    fork(join(import.meta.dirname, "artefactWriter.ts"), [folder, name, "5"], { stdio: "inherit" }),
  );
  // whoever reads meanwhile finds a whole one every time
  let reads = 0;
  const ended = Promise.all(writers.map(async (child) => (await once(child, "exit"))[0]));
  let done = false;
  void ended.then(() => {
    done = true;
  });
  while (!done) {
    await readArtefactFolder(folder);
    reads++;
  }
  assert.deepEqual(await ended, [0, 0, 0]);
  const { version: last } = await readArtefactFolder(folder);
  assert.ok(last.artefact.kind === "experience");
  // 3 processes with 5 additions each, and the first entry
  const expected = ["p", "q", "r"].flatMap((name) => [0, 1, 2, 3, 4].map((i) => `${name}${i}`));
  assert.deepEqual(new Set(last.artefact.entries.map(({ id }) => id)), new Set(["start", ...expected]));
  assert.equal(last.artefact.entries.length, 16);
  assert.ok(reads > 0 && existsSync(folder));
});
