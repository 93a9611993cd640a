import assert from "node:assert/strict";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";
import { searchBytes } from "../../src/store/byteSearch.ts";
import { dropRows } from "../../src/store/exportedFiles.ts";
import { openTrafficStore } from "../../src/store/openTrafficStore.ts";
import { recorder } from "../../src/store/recorder.ts";
import { openDatabase } from "../../src/store/sqlite.ts";
import type { TrafficStore, Write } from "../../src/store/trafficStore.ts";
import { withCode } from "../train/world.ts";
import { folder, onEach, postgres } from "./each.ts";
import { all, served, signal } from "./served.ts";

const response = (session: string, turn: number, at: number, user?: string): Write => ({
  kind: "response",
  response: served(session, turn, { at, ...(user !== undefined && { user }) }),
});
const ids = async (store: TrafficStore): Promise<string[]> => (await all(store.responses())).map((r) => r.id);

onEach("what is too old goes, each at its own age; what remains needs nothing older", async (where) => {
  const store = await openTrafficStore(where);
  for (let t = 0; t < 6; t++) await store.write([response("long-session", t, 1000 + t)]);
  await store.write([
    {
      kind: "signal",
      signal: signal("about-old", { about: [{ response: "response-long-session-1" }], received: 5000 }),
    },
    {
      kind: "signal",
      signal: signal("about-new", { about: [{ response: "response-long-session-4" }], received: 5000 }),
    },
    { kind: "signal", signal: signal("old", { about: [{ session: "another" }], received: 1001 }) },
  ]);
  const receipt = await store.erase({ before: 1003 });
  assert.deepEqual([receipt.responses, receipt.signals], [3, 2]);
  assert.deepEqual(receipt.found, { rows: 0, bytes: 0, exports: 0 });
  // whole, though they were stored as what is new after the ones that went
  assert.deepEqual(
    await all(store.responses()),
    [3, 4, 5].map((t) => served("long-session", t, { at: 1000 + t })),
  );
  assert.deepEqual(
    (await all(store.signals())).map((s) => s.id),
    ["about-new"],
  );
  // the session is still there: its next turn goes on from the last
  await store.write([response("long-session", 6, 1006)]);
  assert.deepEqual(await store.response("response-long-session-6"), served("long-session", 6, { at: 1006 }));
  await assert.rejects(
    store.write([
      { kind: "signal", signal: signal("late", { about: [{ response: "response-long-session-1" }] }) },
    ]),
    withCode("store.erased"),
  );
  await store.close();
});

onEach(
  "a user's sessions go whole, with signals about others that name them, and traffic that was on its way",
  async (where) => {
    const store = await openTrafficStore(where);
    // on its way until they are gone, however slow the machine
    const gone = Promise.withResolvers<void>();
    const recording = recorder({ write: (entries) => gone.promise.then(() => store.write(entries)) });
    await store.write([
      response("session-of-ann", 0, 1, "ann-of-example"),
      response("session-of-ann", 1, 2), // the client said no name this time
      response("session-of-bob", 0, 3, "bob-of-example"),
      {
        kind: "signal",
        signal: signal("compared", {
          kind: "preference",
          best: 0,
          about: [{ response: "response-session-of-bob-0" }, { response: "response-session-of-ann-0" }],
        }),
      },
      {
        kind: "signal",
        signal: signal("by-ann", { user: "ann-of-example", about: [{ session: "session-of-bob" }] }),
      },
      {
        kind: "signal",
        signal: signal("by-bob", { user: "bob-of-example", about: [{ session: "session-of-bob" }] }),
      },
    ]);
    recording.record(served("session-of-ann", 2));
    const receipt = await store.erase({ user: "ann-of-example" });
    gone.resolve();
    assert.deepEqual([receipt.responses, receipt.signals], [2, 2]);
    assert.deepEqual(receipt.found, { rows: 0, bytes: 0, exports: 0 });
    await recording.flush();
    assert.deepEqual(recording.state(), { pending: 0, recorded: 0, lost: 1 });
    assert.deepEqual(await ids(store), ["response-session-of-bob-0"]);
    const summary = await store.sessions();
    assert.deepEqual(
      summary.map(({ id, signals }) => [id, signals]),
      [["session-of-bob", 1]],
    );
    assert.ok(!JSON.stringify(await store.erasures()).includes("ann"));
    // nothing is left to erase, and saying it again does no harm
    assert.equal((await store.erase({ user: "ann-of-example" })).responses, 0);
    await store.close();
  },
);

onEach("nothing about a session gets in while another process erases it", async (where, kind) => {
  const [one, other] = [await openTrafficStore(where), await openTrafficStore(where)];
  const rounds = kind === "PostgreSQL" ? 8 : 2;
  for (let round = 0; round < rounds; round++) {
    const session = `busy-session-${round}`;
    const write = (id: string) =>
      one.write([{ kind: "response", response: { ...served(session, 1), id: `${session}-${id}` } }]);
    await one.write([response(session, 0, 1)]);
    const writers = Array.from({ length: 6 }, async (_, w) => {
      for (let t = 0; ; t++) await write(`${w}-${t}`);
    }).map((writing) => assert.rejects(writing, withCode("store.erased")));
    await pause(20);
    const { found } = await other.erase({ session });
    assert.deepEqual(found, { rows: 0, bytes: 0, exports: 0 });
    await Promise.all(writers);
    assert.deepEqual(await all(one.responses({ session })), []);
  }
  await one.close();
  await other.close();
});

onEach(
  "whoever reads what is erased meanwhile is waited for: nothing of it is left in the files",
  async (where, kind) => {
    const store = await openTrafficStore(where);
    await store.write([response("read-session", 0, 1)]);
    const leave = kind === "PostgreSQL" ? await reading(where) : readingFile(where);
    const erasing = store.erase({ session: "read-session" });
    await pause(300);
    await leave();
    assert.deepEqual((await erasing).found, { rows: 0, bytes: 0, exports: 0 });
    await store.close();
  },
);

/** A transaction that goes on seeing what it saw. @returns what ends it. */
async function reading(url: string): Promise<() => Promise<void>> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query("begin isolation level repeatable read");
  await client.query("select 1"); // without a lock that a vacuum would wait for
  return async () => {
    await client.query("commit");
    await client.end();
  };
}

function readingFile(file: string): () => Promise<void> {
  const database = openDatabase(file);
  database.exec("begin");
  database.prepare("select count(*) from responses").get();
  return async () => {
    database.exec("commit");
    database.close();
  };
}

onEach("two processes: one erases what the other would go on from", async (where) => {
  const [one, other] = [await openTrafficStore(where), await openTrafficStore(where)];
  await one.write([response("shared-session", 0, 1), response("shared-session", 1, 10)]);
  await other.erase({ before: 20 });
  await one.write([response("shared-session", 2, 30)]);
  assert.deepEqual(await all(other.responses()), [served("shared-session", 2, { at: 30 })]);
  await one.close();
  await other.close();
});

onEach("a mention by somebody else is no remainder, and neither is a longer name", async (where) => {
  const store = await openTrafficStore(where);
  await store.write([
    response("customer-42", 0, 1),
    response("customer-421", 0, 2),
    {
      kind: "signal",
      signal: signal("s", { about: [{ session: "customer-421" }], text: "as customer-42 had" }),
    },
  ]);
  const receipt = await store.erase({ session: "customer-42" });
  assert.deepEqual(receipt.found, { rows: 0, bytes: 0, exports: 0 });
  assert.deepEqual(await ids(store), ["response-customer-421-0"]);
  await store.close();
});

test("exported files: rows go, a crash in between is mended, a changed file is refused, one that is gone is fine", async () => {
  const file = join(folder, "rows.jsonl");
  writeFileSync(file, "a\nb\n\nc\n");
  await dropRows(file, new Set([1]), 3);
  assert.equal(readFileSync(file, "utf8"), "a\nc\n");
  await dropRows(file, new Set([1]), 3); // what is known of the rows was not yet changed
  assert.equal(readFileSync(file, "utf8"), "a\nc\n");
  await assert.rejects(
    dropRows(file, new Set([0]), 9),
    withCode("store.failed", /2 rows.*the 9 rows.*Delete the file/),
  );
  rmSync(file);
  await dropRows(file, new Set([0]), 3);
});

test("texts are found wherever blocks are cut, as often as they stand there", async () => {
  const text = "needle-one, needle-two, needle-one and an ünïcode-needle; needle-on";
  const bytes = Buffer.from(text);
  for (let size = 1; size < bytes.length; size += 3) {
    async function* blocks(): AsyncGenerator<Uint8Array> {
      for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
    }
    const found = await searchBytes(blocks(), [
      "needle-one",
      "needle-two",
      "ünïcode-needle",
      "nowhere-at-all",
      "one",
    ]);
    assert.deepEqual(
      Object.fromEntries(found),
      { "needle-one": 2, "needle-two": 1, "ünïcode-needle": 1 },
      `${size}`,
    );
  }
});

test("PostgreSQL: a role that does not own the tables erases rows, and the receipt says what it may not do", async (t) => {
  const server = await postgres();
  if (typeof server === "string") return t.skip(server);
  const where = await server.database();
  const owners = await openTrafficStore(where);
  await owners.write([response("of-dora", 0, 1000, "dora-of-example"), response("of-eve", 0, 1000, "eve")]);
  const client = new pg.Client({ connectionString: where });
  await client.connect();
  const role = `app_${process.pid}`;
  await client.query(`create role ${role} login password 'app'`);
  try {
    await client.query(`grant usage on schema public to ${role}`);
    await client.query(`grant select, insert, update, delete on all tables in schema public to ${role}`);
    await client.query(`grant usage, select, update on all sequences in schema public to ${role}`);
    const url = new URL(where);
    [url.username, url.password] = [role, "app"];
    const store = await openTrafficStore(url.href);
    try {
      const receipt = await store.erase({ user: "dora-of-example" });
      assert.deepEqual([receipt.responses, receipt.found.rows], [1, 0]);
      assert.match(
        receipt.unseen.join(),
        /does not own them.*VACUUM FULL.*files, which this role may not read/,
      );
      assert.deepEqual(await ids(store), ["response-of-eve-0"]);
    } finally {
      await store.close();
    }
    // the owner's own erasure may do both
    const own = await owners.erase({ user: "nobody" });
    assert.doesNotMatch(own.unseen.join(), /this role/);
    const { rows } = await client.query(
      "select position('dora'::bytea in pg_read_binary_file(pg_relation_filepath('responses'))) > 0 as found",
    );
    assert.deepEqual(rows, [{ found: false }]);
  } finally {
    await owners.close();
    await client.query(`drop owned by ${role}`);
    await client.query(`drop role ${role}`);
    await client.end();
  }
});

test("PostgreSQL: the planner's statistics forget with the tables, also those of calls of tools", async (t) => {
  const server = await postgres();
  if (typeof server === "string") return t.skip(server);
  const where = await server.database();
  const store = await openTrafficStore(where);
  for (let i = 0; i < 40; i++)
    await store.write([
      response("session-of-carol", i, 1000 + i, "carol-of-example"),
      {
        kind: "traced",
        call: {
          ...{
            id: `call-${i}`,
            session: "session-of-carol",
            user: "carol-of-example",
            kind: "tool",
            name: "look",
          },
          ...{ at: 1000 + i, ms: 1, input: "input-of-carol", output: "output-of-carol", tags: {} },
        },
      },
    ]);
  const client = new pg.Client({ connectionString: where });
  await client.connect();
  const known = async (): Promise<number> => {
    const { rows } = await client.query(
      "select count(*) as n from pg_stats where schemaname = 'public' and (most_common_vals::text || histogram_bounds::text) ~ 'carol' or most_common_vals::text ~ 'carol'",
    );
    return Number(rows[0].n);
  };
  try {
    await client.query("analyze");
    assert.ok((await known()) > 0, "the statistics name her before");
    const receipt = await store.erase({ user: "carol-of-example" });
    assert.deepEqual([receipt.responses, receipt.traced], [40, 40]);
    assert.deepEqual(receipt.found, { rows: 0, bytes: 0, exports: 0 });
    assert.equal(await known(), 0);
    // the tables' files and those of the statistics
    const { rows } = await client.query(
      "select relname, position('carol'::bytea in pg_read_binary_file(pg_relation_filepath(oid))) > 0 as found from pg_class where relname in ('responses', 'traced_calls', 'pg_statistic')",
    );
    assert.deepEqual(
      rows.filter(({ found }) => found),
      [],
    );
  } finally {
    await client.end();
    await store.close();
  }
});
