import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { sql } from "kysely";
import { backUp, restore } from "../../src/store/backup.ts";
import { connect } from "../../src/store/connect.ts";
import { tableNames } from "../../src/store/copyRows.ts";
import { openTrafficStore } from "../../src/store/openTrafficStore.ts";
import { openRunStore } from "../../src/store/runStore.ts";
import { inProcess } from "../cli/inProcess.ts";
import { withCode } from "../train/world.ts";
import { folder as parent, postgres } from "./each.ts";
import { served, signal } from "./served.ts";

let made = 0;
/** A folder of its own. */
function freshFolder(): string {
  const folder = join(parent, `backup-${made++}`);
  mkdirSync(folder, { recursive: true });
  return folder;
}

/** The URL of a new database; the test is skipped where there is no server. */
async function fresh(t: TestContext): Promise<string | undefined> {
  const started = await postgres();
  if (typeof started !== "string") return started.database();
  t.skip(started);
  return undefined;
}

async function onDatabase<T>(
  where: string,
  work: (database: Awaited<ReturnType<typeof connect>>) => Promise<T>,
): Promise<T> {
  const database = await connect(where, "this thread");
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

const run = (where: string, statement: string): Promise<unknown> =>
  onDatabase(where, ({ db }) => sql.raw(statement).execute(db));

/** All rows of all tables. */
const contents = (where: string): Promise<Record<string, readonly string[]>> =>
  onDatabase(where, async ({ db }) => {
    const all: Record<string, readonly string[]> = {};
    for (const table of tableNames) {
      const { rows } = await sql<Record<string, unknown>>`select * from ${sql.table(table)}`.execute(db);
      all[table] = rows
        .map((row) =>
          JSON.stringify(
            Object.entries(row)
              .map(([name, value]) => [
                name,
                value instanceof Uint8Array ? Buffer.from(value).toString("hex") : value,
              ])
              .sort(),
          ),
        )
        .sort();
    }
    return all;
  });

const version = (id: string) =>
  ({ id, name: id, backend: { kind: "local", name: "m" }, created: 1 }) as const;

/** Rows in every table: some with bytes, one of megabytes, one that is rewritten so that a later row holds what it refers to. */
async function filled(where: string): Promise<void> {
  const runs = await openRunStore(where);
  const start = { name: "r", env: "facts", method: "grpo", engine: "local", folder: "r", config: { a: 0.1 } };
  await runs.startRun({ ...start, id: "r", seed: 7 });
  await runs.setTags("r", ["good"]);
  await runs.saveIteration("r", 0, { metrics: { success: 0.1 + 0.2, lost: Number.NaN }, trajectories: [] });
  await runs.close();
  const store = await openTrafficStore(where);
  const turns = [0, 1, 2].map((turn) => served("s", turn));
  const large = { ...served("large", 0), prompt: [{ role: "user" as const, content: "é".repeat(1e6) }] };
  await store.write([...turns, large].map((response) => ({ kind: "response", response })));
  await store.write([{ kind: "signal", signal: signal("a", { about: [{ response: "response-s-0" }] }) }]);
  await store.addVersion(version("v1"));
  await store.write([{ kind: "response", response: served("gone", 0) }]);
  await store.erase({ session: "gone" });
  await store.close();
  await onDatabase(where, async ({ db }) => {
    const entry = (id: string) => ({
      ...{ collection: "c", id, text: id, data: null, origins: null, encoder: "e" },
      vector: Uint8Array.of(0, 255),
    });
    for (const id of ["one", "two"]) await db.insertInto("entries").values(entry(id)).execute();
    await db.deleteFrom("entries").where("id", "=", "two").execute();
    const row = { run: "r", iteration: 0, phase: "train", id: "t", task: "t", episode: "t", role: "agent" };
    const said = { origin: "sampled", success: 1, reward: 1 / 3, turns: 1, end_kind: "done", kept: "recent" };
    const bytes = { tokens: Uint8Array.of(1, 0, 2), logp: null, behaviour: null, entropy: null };
    await db
      .insertInto("trajectories")
      .values({ ...row, ...said, ...bytes, data: "{}", forced: null, advantage: new Uint8Array(0) })
      .execute();
  });
}

/** The place of the next entry. */
const nextPlace = (where: string): Promise<number> =>
  onDatabase(where, async ({ db }) => {
    const vector = Uint8Array.of(0);
    const none = { data: null, origins: null };
    const { place } = await db
      .insertInto("entries")
      .values({ collection: "c", id: "next", text: "", encoder: "e", vector, ...none })
      .returning("place")
      .executeTakeFirstOrThrow();
    await db.deleteFrom("entries").where("id", "=", "next").execute();
    return place;
  });

test("a PostgreSQL store is copied to a file while it is in use, and each database can be restored from it", async (t) => {
  const url = await fresh(t);
  const other = await fresh(t);
  if (url === undefined || other === undefined) return;
  await filled(url);
  const before = await contents(url);
  const folder = freshFolder();
  const copy = join(folder, "copy.sqlite");
  const store = await openTrafficStore(url);
  let writing: Promise<void> | undefined;
  await backUp(url, copy, () => {
    writing ??= store.addVersion(version("later"));
  });
  await writing;
  await store.close();
  assert.deepEqual(await contents(copy), before, "of the moment at which it began");
  assert.equal(statSync(copy).mode & 0o777, 0o600);

  const file = join(folder, "restored.sqlite");
  await restore(copy, file, false);
  await restore(copy, other, false);
  for (const where of [file, other]) {
    assert.deepEqual(await contents(where), before);
    // a place that was taken once is not given again
    assert.equal(await nextPlace(where), 3);
    const there = await openTrafficStore(where);
    assert.deepEqual(await there.response("response-s-2"), served("s", 2));
    const erased = { kind: "signal", signal: signal("b", { about: [{ session: "gone" }] }) } as const;
    await assert.rejects(there.write([erased]), withCode("store.erased"));
    await there.close();
  }
});

test("a SQLite store comes into PostgreSQL by its copy, and back", async (t) => {
  const url = await fresh(t);
  if (url === undefined) return;
  const folder = freshFolder();
  const [file, copy, again] = ["a", "b", "c"].map((name) => join(folder, `${name}.sqlite`)) as [
    string,
    string,
    string,
  ];
  await filled(file);
  const before = await contents(file);
  await backUp(file, copy);
  await restore(copy, url, false);
  assert.deepEqual(await contents(url), before);
  await backUp(url, again);
  assert.deepEqual(await contents(again), before);
});

test("what a PostgreSQL store holds goes only with --replace, and whole; a password is never shown", async (t) => {
  const url = await fresh(t);
  if (url === undefined) return;
  const folder = freshFolder();
  const copy = join(folder, "copy.sqlite");
  await filled(url);
  const secret = new URL(url);
  secret.password = "hush";
  const made = await inProcess(["backup", copy, "--store", secret.href, "--json"]);
  assert.equal(made.code, 0, made.err);
  assert.deepEqual(JSON.parse(made.out), { type: "backup", store: url, file: copy });

  const store = await openTrafficStore(url);
  await store.addVersion(version("v2"));
  await store.close();
  const now = await contents(url);
  const refused = await inProcess(["restore", copy, "--store", secret.href]);
  assert.equal(refused.code, 2);
  assert.match(refused.err, /got a store that holds runs, expected an empty store\. .*--replace/);
  assert.ok(!refused.err.includes("hush"));
  const stopped = restore(copy, url, true, (share) => {
    if (share > 0.5) throw new Error("the power failed");
  });
  await assert.rejects(stopped, withCode("store.failed", /the power failed/));
  assert.deepEqual(await contents(url), now, "as it was");
  const holding = await openTrafficStore(url);
  const back = await inProcess(["restore", copy, "--store", secret.href, "--replace"]);
  await holding.close();
  assert.equal(back.code, 0, back.err);
  assert.ok(!back.out.includes("hush"));
  assert.deepEqual((await contents(url)).records?.length, (now.records?.length ?? 0) - 1);

  const part = backUp(url, join(folder, "half.sqlite"), (share) => {
    if (share > 0.5) throw new Error("the power failed");
  });
  await assert.rejects(part, withCode("store.failed", /the power failed/));
  assert.deepEqual(readdirSync(folder), ["copy.sqlite"], "nothing half-written");
});

test("another version's store, none at all, and a URL in place of a file are refused", async (t) => {
  const url = await fresh(t);
  const empty = await fresh(t);
  if (url === undefined || empty === undefined) return;
  const folder = freshFolder();
  const [copy, newer] = [join(folder, "copy.sqlite"), join(folder, "newer.sqlite")];
  const nothing = join(folder, "nothing.sqlite");
  await assert.rejects(backUp(empty, nothing), withCode("name.unknown", /which holds none/));
  await assert.rejects(backUp(url, url), withCode("option.range", /expected a file/));
  await filled(url);
  await assert.rejects(restore(url, nothing, false), withCode("option.range", /expected a file/));
  await backUp(url, copy);

  await restore(copy, newer, false);
  await run(newer, "create table later (text)");
  await run(newer, "insert into kysely_migration (name, timestamp) values ('999-later', '')");
  for (const where of [join(folder, "there.sqlite"), empty])
    await assert.rejects(restore(newer, where, false), withCode("store.failed", /a newer version/));
  assert.ok(!existsSync(join(folder, "there.sqlite")));
  await run(url, "insert into kysely_migration (name, timestamp) values ('999-later', '')");
  await assert.rejects(backUp(url, nothing), withCode("store.failed", /a newer version/));

  // as the version before left it
  await run(copy, "delete from kysely_migration where name = '009-heads'");
  await assert.rejects(restore(copy, empty, false), withCode("store.failed", /an older version.*keys list/));
  const keys = await inProcess(["keys", "list", "--store", copy]);
  assert.equal(keys.code, 0, keys.err);
  await restore(copy, empty, false);
  assert.deepEqual(await contents(empty), await contents(copy));
  assert.ok(!existsSync(nothing));
});

test("every table of a store is copied", async () => {
  const file = join(freshFolder(), "a.sqlite");
  const there = await onDatabase(file, ({ db }) => db.introspection.getTables());
  assert.deepEqual(there.map(({ name }) => name).sort(), [...tableNames].sort());
});
