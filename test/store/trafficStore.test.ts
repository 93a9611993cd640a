import assert from "node:assert/strict";
import { globSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { ReceivedSignal, ServedResponse } from "../../src/core/served.ts";
import { openTrafficStore } from "../../src/store/openTrafficStore.ts";
import type { SessionSearch, TrafficStore, Write } from "../../src/store/trafficStore.ts";
import { withCode } from "../train/world.ts";
import { folder, onEach, postgres } from "./each.ts";
import { all, served, signal } from "./served.ts";

async function withStore(where: string, work: (store: TrafficStore) => Promise<void>): Promise<void> {
  const store = await openTrafficStore(where);
  try {
    await work(store);
  } finally {
    await store.close();
  }
}

const write = (response: ServedResponse): Write => ({ kind: "response", response });
const give = (s: ReceivedSignal): Write => ({ kind: "signal", signal: s });

/** All that the database has on its disk, but for PostgreSQL's log and its cache of catalogues, which comes and goes. */
async function bytesOf(where: string): Promise<string> {
  const started = where.startsWith("postgres:") ? await postgres() : undefined;
  const files =
    typeof started === "object"
      ? globSync(`${started.folder}/data/base/*/*`)
          .filter((file) => !basename(file).startsWith("pg_internal.init"))
          .filter((file) => statSync(file).isFile())
      : [where, `${where}-wal`];
  return files.map((file) => readFileSync(file, "latin1")).join("\n");
}

onEach("what was served comes back as it was, one batch or many, in the order of time", (where) =>
  withStore(where, async (store) => {
    const turns = Array.from({ length: 6 }, (_, t) => served("s", t));
    await store.write(turns.slice(0, 3).map(write));
    for (const turn of turns.slice(3)) await store.write([write(turn)]);
    assert.deepEqual(await all(store.responses()), turns);
    assert.deepEqual(await store.response("response-s-5"), turns[5]);
    assert.equal(await store.response("nobody"), undefined);
  }),
);

onEach("a key makes two signals one; without a key, or with another, they are two", (where) =>
  withStore(where, async (store) => {
    const [first] = await store.write([give(signal("a", { key: "k" }))]);
    assert.deepEqual(first, { id: "a", duplicate: false });
    const again = await store.write([
      give(signal("b", { key: "k" })),
      give(signal("c", { key: "l" })),
      give(signal("d", { key: "l" })),
      give(signal("e")),
    ]);
    assert.deepEqual(again, [
      { id: "a", duplicate: true },
      { id: "c", duplicate: false },
      { id: "c", duplicate: true },
      { id: "e", duplicate: false },
    ]);
    assert.deepEqual(await all(store.signals()), [
      signal("a", { key: "k" }),
      signal("c", { key: "l" }),
      signal("e"),
    ]);
  }),
);

onEach(
  "erasing a user: rows, bytes, exported rows; and nothing more is taken about it",
  async (where, kind) => {
    const store = await openTrafficStore(where);
    const exported = join(folder, `exported-${kind}.jsonl`);
    writeFileSync(exported, `{"session":"mine-12345678"}\n\n{"session":"other-12345678"}\n`);
    await store.addExport({
      id: "x",
      file: exported,
      format: "jsonl",
      at: 1,
      rows: [
        { sessions: ["mine-12345678"], users: [] },
        { sessions: ["other-12345678"], users: [] },
      ],
    });
    for (const session of ["mine-12345678", "other-12345678"]) {
      const user = session.replace(/-.*/, "-user-1234");
      for (let t = 0; t < 3; t++) await store.write([write(served(session, t, { user }))]);
      await store.write([
        give(
          signal(`signal-${session}`, {
            about: [{ response: `response-${session}-1` }],
            user,
            text: `secret of ${session}`,
          }),
        ),
      ]);
    }
    const receipt = await store.erase({ user: "mine-user-1234" });
    assert.equal(receipt.responses, 3);
    assert.equal(receipt.signals, 1);
    assert.deepEqual(receipt.exports, [{ file: exported, rowsRemoved: 1 }]);
    assert.deepEqual(receipt.found, { rows: 0, bytes: 0, exports: 0 });
    assert.ok(!/mine-12345678|mine-user|secret of mine/.test(await bytesOf(where)));
    assert.ok((await bytesOf(where)).includes("secret of other-12345678"));
    assert.equal(readFileSync(exported, "utf8"), `{"session":"other-12345678"}\n`);
    assert.deepEqual(
      (await all(store.responses())).map((r) => r.id),
      [0, 1, 2].map((t) => `response-other-12345678-${t}`),
    );
    assert.equal((await all(store.signals())).length, 1);
    for (const about of [{ response: "response-mine-12345678-1" }, { session: "mine-12345678" }]) {
      await assert.rejects(
        store.write([give(signal("late", { about: [about] }))]),
        withCode("store.erased", /erased/),
      );
    }
    assert.equal((await store.erasures()).length, 1);
    await store.close();
  },
);

onEach("redacted before it is stored, and erased by the name that was given", async (where) => {
  const redacted: Record<string, number> = {};
  const onRedacted = (what: string, times: number): void => {
    redacted[what] = (redacted[what] ?? 0) + times;
  };
  const store = await openTrafficStore(where, { redaction: { onRedacted } });
  const user = "ann.lee@mail.example";
  for (let t = 0; t < 3; t++) {
    const response = served("s", t, { user });
    const prompt = [{ role: "system" as const, content: `You serve ${user}.` }, ...response.prompt.slice(1)];
    await store.write([write({ ...response, prompt })]);
  }
  await store.write([give(signal("a", { user, text: "call +49 30 7654321", about: [{ session: "s" }] }))]);
  const kept = await all(store.responses());
  assert.deepEqual(
    kept.map((response) => response.prompt[0]?.content),
    Array.from({ length: 3 }, () => "You serve [email]."),
  );
  assert.ok(kept.every((response) => response.choices.every((choice) => choice.tokens === undefined)));
  assert.deepEqual(redacted, { email: 3, tokens: 3, phone: 1 });
  assert.ok(!/ann\.lee|7654321/.test(await bytesOf(where)));
  const receipt = await store.erase({ user });
  assert.deepEqual([receipt.responses, receipt.signals], [3, 1]);
  assert.deepEqual(receipt.found, { rows: 0, bytes: 0, exports: 0 });
  await store.close();
});

/** Bytes that something in memory holds, texts outside the heap among them. */
async function heldBytes(): Promise<number> {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  collect();
  // buffers are freed on another thread, which is late on a busy machine
  await setTimeout(50);
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

onEach("of many large rows few are in memory at a time, whichever is looked at", async (where) => {
  const store = await openTrafficStore(where);
  const bytes = 3e6;
  const said = (i: number): string => `${i} ${"x".repeat(bytes)}`;
  for (let i = 0; i < 24; i++) {
    const prompt = [{ role: "user" as const, content: said(i) }];
    const large = served("s", 0, { id: `r${i}`, trajectory: `s/${i}`, at: i, prompt });
    const small = served("t", 0, { id: `small${i}`, trajectory: `t/${i}`, at: i });
    await store.write([write(large), write(small)]);
    await store.write([give(signal(`a${i}`, { received: i, text: said(i), about: [{ session: "s" }] }))]);
  }
  await store.close();
  await withStore(where, async (reader) => {
    const before = await heldBytes();
    const ids: string[] = [];
    let most = 0;
    for await (const { id } of reader.responses()) {
      ids.push(id);
      if (ids.length % 8 === 1) most = Math.max(most, (await heldBytes()) - before);
    }
    const expected = Array.from({ length: 24 }, (_, i) => [`r${i}`, `small${i}`]).flat();
    assert.deepEqual(ids, expected);
    for await (const { id } of reader.signals({ session: "s" })) {
      ids.push(id);
      if (ids.length % 8 === 1) most = Math.max(most, (await heldBytes()) - before);
    }
    assert.deepEqual(
      ids.slice(48),
      Array.from({ length: 24 }, (_, i) => `a${i}`),
    );
    // the recent texts take some 16 MB of it, buffers of connections up to as much; all rows are 72 MB
    assert.ok(most < 20 * bytes, `${most / 1e6} MB`);
  });
});

onEach("redaction leaves the names of responses that are kept, and of no others", async (where) => {
  const store = await openTrafficStore(where, { redaction: {} });
  const [ours, theirs] = ["chat-ann@mail.example", "leak-bob@mail.example"];
  await store.write([write(served("s", 0, { id: ours }))]);
  const about = [{ response: ours }, { response: theirs }, { response: "new-eve@mail.example" }];
  await store.write([
    give(signal("a", { channel: "+4915187654321", about })),
    write(served("s", 1, { id: "new-eve@mail.example" })),
  ]);
  const [kept] = await all(store.signals({ response: ours }));
  assert.deepEqual(
    kept?.about.map(({ response }) => response?.replace(/:[\w-]{8}\]/, "]")),
    [ours, "[email]", "new-eve@mail.example"],
  );
  assert.match(kept?.channel ?? "", /^\[phone:[\w-]{8}\]$/);
  await store.erase({ session: "s" });
  await assert.rejects(
    store.write([give(signal("late", { about: [{ response: ours }] }))]),
    withCode("store.erased", /erased/),
  );
  await store.close();
});

onEach("filters, pages and summaries", async (where) => {
  const store = await openTrafficStore(where);
  const sessions = ["a", "b", "c"];
  // more than two pages, many of one time
  const batch = sessions.flatMap((session, s) =>
    Array.from({ length: 150 }, (_, t) =>
      write(
        served(session, t % 3, {
          id: `${session}-${t}`,
          at: 10 * s,
          version: `v${t % 2}`,
          user: `u-${session}`,
        }),
      ),
    ),
  );
  await store.write(batch);
  await store.write([
    give(signal("1", { about: [{ session: "a" }], received: 1, channel: "x" })),
    give(signal("2", { about: [{ response: "a-7" }, { response: "b-7" }], received: 2 })),
    give(signal("3", { about: [{ trajectory: "b/0", turn: 1 }], received: 3, user: "u-b" })),
    give(signal("4", { about: [{ response: "nobody-knows-yet" }], received: 4, kind: "score" })),
  ]);
  const seen = (await all(store.responses())).map((r) => r.id);
  assert.equal(new Set(seen).size, 450);
  assert.ok(seen.slice(0, 150).every((id) => id.startsWith("a-")));
  const count = async (filter: Parameters<TrafficStore["responses"]>[0]): Promise<number> =>
    (await all(store.responses(filter))).length;
  assert.deepEqual(
    await Promise.all([
      count({ session: "a" }),
      count({ user: "u-b", version: "v0" }),
      count({ trajectory: "c/0" }),
      count({ from: 10, until: 20 }),
      count({ split: "none" }),
    ]),
    [150, 75, 150, 150, 0],
  );
  const named = async (filter: Parameters<TrafficStore["signals"]>[0]): Promise<string> =>
    (await all(store.signals(filter))).map((s) => s.id).join("");
  assert.deepEqual(
    await Promise.all([
      named({ session: "a" }),
      named({ session: "b" }),
      named({ response: "b-7" }),
      named({ user: "u-b" }),
      named({ channel: "x" }),
      named({ kind: "score" }),
      named({ from: 2, until: 4 }),
      named({ session: "a", parts: { responses: ["a-7", "a-8"], trajectories: ["a/0"] } }),
      named({ session: "a", parts: { responses: ["a-8"], trajectories: [] } }),
      named({ session: "b", parts: { responses: [], trajectories: ["b/0"] } }),
    ]),
    ["12", "23", "2", "3", "1", "4", "23", "12", "1", "3"],
  );
  const summary = (await store.sessions({ limit: 2 })).map((s) => [
    s.id,
    s.last,
    s.responses,
    s.trajectories,
    s.signals,
  ]);
  assert.deepEqual(summary, [
    ["c", 20, 150, 1, 0],
    ["b", 10, 150, 1, 2],
  ]);
  assert.deepEqual(
    (await store.sessions({ limit: 2, offset: 2 })).map((s) => [s.id, s.user, s.first, s.signals]),
    [["a", "u-a", 0, 2]],
  );
  const found = async (search: SessionSearch) => (await store.sessions(search)).map(({ id }) => id);
  assert.deepEqual(await found({ text: "U-A" }), ["a"]);
  // what means something in a pattern stands for itself
  assert.deepEqual(await found({ text: "u_a" }), []);
  assert.deepEqual(await found({ failed: true }), []);
  await store.write([
    write({ ...served("d", 0), at: 99, ms: 40, status: "failed", choices: [] }),
    write({ ...served("d", 1), at: 100, ms: 20, status: "complete" }),
  ]);
  const [failed] = await store.sessions({ failed: true });
  assert.deepEqual([failed?.id, failed?.responses, failed?.failed, failed?.ms], ["d", 2, 1, 30]);
  const alone = { id: "p", session: "e", user: "u-e", kind: "passed", ms: 3, tags: {} } as const;
  await store.write([
    { kind: "traced", call: { ...alone, name: "POST /v1/files", at: 101 } },
    { kind: "traced", call: { ...alone, id: "q", session: "a", name: "search", at: 200 } },
  ]);
  const [passed, ...others] = await store.sessions({});
  assert.deepEqual([passed?.id, passed?.user, passed?.last, passed?.responses], ["e", "u-e", 101, 0]);
  assert.deepEqual(
    others.map(({ id }) => id),
    ["d", "c", "b", "a"],
  );
  assert.deepEqual(await found({ text: "u-E" }), ["e"]);
  assert.deepEqual(await found({ text: "/v1/Files" }), ["e"]);
  await store.close();
});

onEach("versions, splits and keys: in the order made; only keys change", (where) =>
  withStore(where, async (store) => {
    const version = (id: string) => ({
      id,
      name: id,
      backend: { kind: "local", name: id } as const,
      created: 1,
    });
    for (const id of ["z", "a"]) await store.addVersion(version(id));
    await store.addVersion(version("a"));
    await assert.rejects(
      store.addVersion({ ...version("a"), note: "another" }),
      withCode("store.refused", /Choose a new id/),
    );
    assert.deepEqual(
      (await store.versions()).map((v) => v.id),
      ["z", "a"],
    );
    const split = (id: string) => ({
      id,
      shares: { z: 1 },
      unit: "session" as const,
      since: 1,
      why: "first",
    });
    await Promise.all(["s3", "s1", "s2"].map((id) => store.addSplit(split(id))));
    assert.deepEqual((await store.splits()).map((s) => s.id).sort(), ["s1", "s2", "s3"]);
    const key = { id: "k", label: "app", hash: "00", scopes: ["chat" as const], created: 1 };
    await store.putKey(key);
    await store.putKey({ ...key, revoked: 5 });
    assert.deepEqual(await store.keys(), [{ ...key, revoked: 5 }]);
  }),
);

onEach("two processes with the same keys: one signal each, whoever comes first", async (where) => {
  const stores = [await openTrafficStore(where), await openTrafficStore(where)];
  const keys = Array.from({ length: 300 }, (_, i) => `key-${i}`);
  const written = await Promise.all(
    stores.flatMap((store, s) =>
      // in opposite orders, so that they stand in each other's way
      [keys.slice(0, 150), keys.slice(150)].map((some) =>
        store.write(
          (s === 0 ? some : some.toReversed()).map((key) => give(signal(`${key}-of-${s}`, { key }))),
        ),
      ),
    ),
  );
  const kept = await all(stores[0]!.signals());
  assert.equal(kept.length, 300);
  assert.equal(written.flat().filter((w) => !w.duplicate).length, 300);
  const first = new Map(kept.map((s) => [s.key, s.id]));
  for (const { id } of written.flat()) assert.equal(first.get(id.replace(/-of-.*/, "")), id);
  for (const store of stores) await store.close();
});

test("PostgreSQL: what is wrong with a URL is said without its password", async () => {
  for (const [url, words] of [
    ["postgres://me:hunter2@127.0.0.1:1/db", /no server at that address.*Start it/],
    ["postgres://me:hunter2@host.invalid/db", /unknown host|EAI_AGAIN/],
  ] as const) {
    await assert.rejects(openTrafficStore(url), (e: unknown) => {
      withCode("store.failed", words)(e);
      assert.ok(e instanceof Error && !e.message.includes("hunter2") && !String(e.stack).includes("hunter2"));
      return true;
    });
  }
});

onEach("a name that no database holds is nobody's, and no failure of the store", (where, kind) =>
  withStore(where, async (store) => {
    const asked = [store.response("a\0b"), all(store.signals({ response: "a\0b" }))];
    if (kind === "SQLite") assert.deepEqual(await Promise.all(asked), [undefined, []]);
    else for (const one of asked) await assert.rejects(one, withCode("store.refused"));
  }),
);
