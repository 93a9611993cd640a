import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, test } from "node:test";
import { openTrafficStore } from "../../src/store/openTrafficStore.ts";
import type { TrafficStore } from "../../src/store/trafficStore.ts";
import { inProcess } from "../cli/inProcess.ts";

const folder = mkdtempSync(join(tmpdir(), "whetstone-backup-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const versionAt = (n: number) =>
  ({ id: `v${n}`, name: `v${n}`, backend: { kind: "local", name: "m" }, created: n }) as const;
const ids = async (file: string): Promise<readonly string[]> => {
  const store = await openTrafficStore(file);
  try {
    return (await store.versions()).map(({ id }) => id).sort();
  } finally {
    await store.close();
  }
};

/** A store in use, with one version, that its user closes. */
async function inUse(name: string): Promise<{ readonly file: string; readonly store: TrafficStore }> {
  const file = join(folder, name);
  const store = await openTrafficStore(file);
  await store.addVersion(versionAt(1));
  return { file, store };
}

test("a store in use is copied as it is at that moment, and put back", async () => {
  const { file, store } = await inUse("a.sqlite");
  const copy = join(folder, "copy.sqlite");
  const made = await inProcess(["backup", copy, "--store", file, "--json"]);
  assert.equal(made.code, 0, made.err);
  assert.deepEqual(JSON.parse(made.out), { type: "backup", store: file, file: copy });
  assert.equal(statSync(copy).mode & 0o777, 0o600);
  await store.addVersion(versionAt(2));
  await store.close();
  assert.deepEqual(await ids(file), ["v1", "v2"]);

  const there = await inProcess(["restore", copy, "--store", file]);
  assert.equal(there.code, 2);
  assert.match(there.err, /a\.sqlite: got a file that is there, expected a new file\. .*--replace/);
  assert.deepEqual(await ids(file), ["v1", "v2"], "nothing was replaced");
  const back = await inProcess(["restore", copy, "--store", file, "--replace"]);
  assert.equal(back.code, 0, back.err);
  assert.deepEqual(await ids(file), ["v1"]);
  const elsewhere = join(folder, "elsewhere.sqlite");
  assert.equal((await inProcess(["restore", copy, "--store", elsewhere])).code, 0);
  assert.deepEqual(await ids(elsewhere), ["v1"]);
  assert.deepEqual(
    readdirSync(folder).filter((name) => name.includes(".part")),
    [],
  );
});

test("one clear line, and nothing half-written, for what is no store, damaged, missing or in the way", async () => {
  const { file, store } = await inUse("b.sqlite");
  const copy = join(folder, "b-copy.sqlite");
  assert.equal((await inProcess(["backup", copy, "--store", file])).code, 0);
  await store.close();
  const again = await inProcess(["backup", copy, "--store", file]);
  assert.deepEqual([again.code, /got a file that is there/.test(again.err)], [2, true]);
  const missing = await inProcess([
    "backup",
    join(folder, "new.sqlite"),
    "--store",
    join(folder, "no.sqlite"),
  ]);
  assert.deepEqual([missing.code, /no\.sqlite, which is not there/.test(missing.err)], [2, true]);
  assert.ok(!existsSync(join(folder, "no.sqlite")) && !existsSync(join(folder, "new.sqlite")));
  const nowhere = await inProcess(["backup", join(folder, "no", "folder.sqlite"), "--store", file]);
  assert.deepEqual([nowhere.code, /expected a copy of the store/.test(nowhere.err)], [1, true]);
  const other = join(folder, "other.sqlite");
  const database = new DatabaseSync(other);
  database.exec("create table notes (text)");
  database.close();
  const foreign = await inProcess(["restore", other, "--store", file, "--replace"]);
  assert.deepEqual([foreign.code, /another program's SQLite database/.test(foreign.err)], [1, true]);
  const over = await inProcess(["restore", copy, "--store", other, "--replace"]);
  assert.deepEqual([over.code, /another program's SQLite database/.test(over.err)], [1, true]);

  const damaged = join(folder, "damaged.sqlite");
  const bytes = readFileSync(copy);
  // the pages behind the first ones, which hold the tables' names
  bytes.fill(0xee, 8 * 4096);
  writeFileSync(damaged, bytes);
  const broken = await inProcess(["restore", damaged, "--store", file, "--replace"]);
  assert.equal(broken.code, 1);
  assert.match(broken.err, /damage|malformed/);
  assert.deepEqual(await ids(file), ["v1"], "the store is as it was");
  assert.equal((await inProcess(["restore", copy, "--store", damaged, "--replace"])).code, 0);
  assert.deepEqual(await ids(damaged), ["v1"], "a damaged store is replaced");
});
