import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  existsSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, test } from "node:test";
import { openTrafficStore } from "../../src/store/openTrafficStore.ts";
import { requireReadable } from "../../src/store/ownSchema.ts";
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
  const nowhere = await inProcess(["backup", join(copy, "below-a-file.sqlite"), "--store", file]);
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

test("a store that is in use is not replaced, whoever uses it", async () => {
  const { file, store } = await inUse("used.sqlite");
  const copy = join(folder, "new", "folders", "used-copy.sqlite");
  assert.equal((await inProcess(["backup", copy, "--store", file])).code, 0, "folders are made");
  const args = ["restore", copy, "--store", file, "--replace"];
  const here = await inProcess(args);
  assert.deepEqual(
    [here.code, /used\.sqlite: got a store that is in use/.test(here.err)],
    [1, true],
    here.err,
  );
  const main = join(import.meta.dirname, "../../src/cli/main.ts");
  const elsewhere = spawnSync(process.execPath, [main, ...args], { encoding: "utf8" });
  assert.deepEqual([elsewhere.status, /in use/.test(elsewhere.stderr)], [1, true], elsewhere.stderr);
  await store.addVersion(versionAt(2));
  await store.close();
  assert.deepEqual(await ids(file), ["v1", "v2"], "what was written meanwhile is there");
  assert.equal((await inProcess(args)).code, 0);
  assert.deepEqual(await ids(file), ["v1"]);
});

test("a copy that was cut off is named, and no unexpected failure", async () => {
  const { file, store } = await inUse("whole.sqlite");
  const cut = join(folder, "cut.sqlite");
  assert.equal((await inProcess(["backup", cut, "--store", file])).code, 0);
  await store.close();
  truncateSync(cut, 20_000);
  const made = await inProcess(["restore", cut, "--store", join(folder, "from-cut.sqlite")]);
  assert.deepEqual([made.code, /cut\.sqlite: got a damaged file/.test(made.err)], [1, true], made.err);
  assert.ok(!existsSync(join(folder, "from-cut.sqlite")));
});

test("only a store is replaced, and through a link what it leads to", async () => {
  const { file, store } = await inUse("linked.sqlite");
  const copy = join(folder, "linked-copy.sqlite");
  assert.equal((await inProcess(["backup", copy, "--store", file])).code, 0);
  await store.addVersion(versionAt(2));
  await store.close();
  const precious = join(folder, "precious.txt");
  writeFileSync(precious, "a text that is no store, and longer than a header of SQLite would be, to be sure");
  for (const [target, said] of [
    [precious, /a file that is no store/],
    [folder, /something that is no file/],
    ["/dev/null", /something that is no file/],
  ] as const) {
    const { code, err } = await inProcess(["restore", copy, "--store", target, "--replace"]);
    assert.deepEqual([code, said.test(err)], [1, true], err);
  }
  assert.match(readFileSync(precious, "utf8"), /^a text/);
  const link = join(folder, "link.sqlite");
  symlinkSync(file, link);
  assert.equal((await inProcess(["restore", copy, "--store", link, "--replace"])).code, 0);
  assert.ok(lstatSync(link).isSymbolicLink());
  assert.deepEqual(await ids(file), ["v1"]);
});

/** SQL that makes a copy hostile, and what is said of it. Nothing of it may run: views of this kind do not end. */
const endless =
  "with recursive n(name) as (select '001-runs' union all select name from n) select name from n";
const hostile: Readonly<Record<string, string>> = {
  "trigger t": "create trigger t after insert on records begin delete from records; end",
  "view v": `create view v as ${endless}`,
  "view metrics": `drop table metrics; create view metrics as ${endless}`,
  "table notes": "create table notes (text)",
  "index slow": "create index slow on runs (length(hex(zeroblob(400000000))))",
  "table settings":
    "drop table settings; create table settings (name text primary key, value text not null check (name <> 'x'))",
  "table words": "create virtual table words using fts5(text)",
  "table erased": "drop table erased",
};
for (const [what, sql] of Object.entries(hostile)) {
  test(`a copy with or without its ${what} is refused, and nothing of it runs`, async () => {
    const copy = join(folder, `hostile-${what}.sqlite`);
    const to = join(folder, `from-hostile-${what}.sqlite`);
    const { file, store } = await inUse(`before-${what}.sqlite`);
    assert.equal((await inProcess(["backup", copy, "--store", file])).code, 0);
    await store.close();
    const database = new DatabaseSync(copy);
    database.exec(sql);
    database.close();
    const made = await inProcess(["restore", copy, "--store", to]);
    assert.equal(made.code, 1, made.err);
    assert.match(
      made.err,
      new RegExp(
        `got "${what}", which (no store holds|is missing), expected the tables and indexes.*nothing was replaced`,
      ),
    );
    assert.ok(!existsSync(to));
  });
}

/** Changes to the statements themselves, which SQLite carries out with `writable_schema` alone. */
const forged: Readonly<Record<string, readonly [sql: string, from: string, to: string]>> = {
  sqlite_stat1: ["analyze", "(tbl,idx,stat)", "(tbl,idx,x,stat as (hex(x)))"],
  sqlite_sequence: ["", "(name,seq)", "(name,seq,more as (hex(name)))"],
  kysely_migration: ["", '"name" varchar', '"name" text collate nocase, "more" varchar'],
  responses: ["", '"model" text', '"model text"'],
  signals: ["", '"value" double precision', '"VALUE" double precision'],
};
function forge(copy: string, table: string, sql: string, from: string, to: string): void {
  const database = new DatabaseSync(copy);
  database.exec(sql);
  if ("enableDefensive" in database) (database.enableDefensive as (on: boolean) => void)(false);
  database.exec("PRAGMA writable_schema = ON");
  const change = database.prepare("update sqlite_schema set sql = replace(sql, ?, ?) where name = ?");
  assert.equal(change.run(from, to, table).changes, 1);
  database.close();
}
for (const [table, [sql, from, to]] of Object.entries(forged)) {
  test(`a copy whose statement of ${table} was changed is refused`, async () => {
    const copy = join(folder, `forged-${table}.sqlite`);
    const { file, store } = await inUse(`before-forged-${table}.sqlite`);
    assert.equal((await inProcess(["backup", copy, "--store", file])).code, 0);
    await store.close();
    forge(copy, table, sql, from, to);
    const target = join(folder, `from-forged-${table}.sqlite`);
    const made = await inProcess(["restore", copy, "--store", target]);
    assert.equal(made.code, 1, made.err);
    assert.match(made.err, new RegExp(`got "table ${table}", which no store holds`));
    assert.ok(!existsSync(target));
  });
}

test("a copy that computes while its tables are read does not hold anybody up", async () => {
  const copy = join(folder, "slow.sqlite");
  const { store } = await inUse("slow.sqlite");
  await store.close();
  await requireReadable(copy);
  const slow = "(tbl,idx,x,stat as (length(hex(zeroblob(400000000)))))";
  forge(copy, "sqlite_stat1", "analyze", "(tbl,idx,stat)", slow);
  await assert.rejects(requireReadable(copy, 0.5), /got tables whose names take longer than 0\.5 s to read/);
});

test("a copy of an older store, or of one that SQLite has analysed, is restored", async () => {
  const { file, store } = await inUse("older.sqlite");
  await store.close();
  const database = new DatabaseSync(file);
  database.exec("alter table responses drop column head");
  database.exec("delete from kysely_migration where name = '009-heads'");
  database.exec("analyze");
  database.close();
  const to = join(folder, "from-older.sqlite");
  const made = await inProcess(["restore", file, "--store", to]);
  assert.equal(made.code, 0, made.err);
  assert.deepEqual(await ids(to), ["v1"]);
});
