import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { Hono } from "hono";
import { sql } from "kysely";
import type { ServedResponse } from "../../src/core/served.ts";
import { type Gated, gate } from "../../src/serve/auth.ts";
import { records, type SessionsBody } from "../../src/serve/records.ts";
import { connect } from "../../src/store/connect.ts";
import { openTrafficStore } from "../../src/store/openTrafficStore.ts";
import { onEach } from "./each.ts";
import { served } from "./served.ts";

/** Statements on the store's own database, while nothing else has it open. */
async function run(where: string, ...statements: readonly string[]): Promise<void> {
  const database = await connect(where, "this thread");
  try {
    for (const statement of statements) await sql.raw(statement).execute(database.db);
  } finally {
    await database.close();
  }
}

/** The list as its page asks for it. */
async function listed(where: string): Promise<SessionsBody["sessions"]> {
  const production = await openTrafficStore(where);
  try {
    const door = gate({ production, open: true, signing: randomBytes(32) });
    const app = new Hono<Gated>().use(door.enter).route("/", records(production, door));
    const answer = await app.request("http://localhost/v1/sessions?preview=true", {
      headers: { host: "localhost" },
    });
    const body: SessionsBody = JSON.parse(await answer.text());
    return body.sessions;
  } finally {
    await production.close();
  }
}

async function fill(where: string, responses: readonly ServedResponse[]): Promise<void> {
  const store = await openTrafficStore(where);
  await store.putPrice({ id: "small", input: 1e6, output: 2e6 });
  await store.write(responses.map((response) => ({ kind: "response", response })));
  await store.close();
}

const { usage: _counted, ...uncounted } = served("guessed", 0);
const half = `${"x".repeat(199)}\u{1f600} and more`;
const many = [
  ...[0, 1].map((turn) => served("short", turn)),
  // 2 × 3 characters sent; one answer of 3 and none
  {
    ...uncounted,
    prompt: [{ role: "user", content: "abcdef" }],
    choices: [{ message: { role: "assistant", content: "abc" }, stop: "eos" }],
  } satisfies ServedResponse,
  { ...served("cut", 0), prompt: [{ role: "user", content: half }] } satisfies ServedResponse,
  { ...served("odd", 0), prompt: [{ role: "user", content: "a\0b" }] } satisfies ServedResponse,
  { ...served("system", 0), prompt: [{ role: "system", content: "only this" }] } satisfies ServedResponse,
  ...Array.from({ length: 21 }, (_, turn) => served("long", turn)),
];

onEach(
  "a list says what sessions are about and what they took without reading their texts",
  async (where) => {
    await fill(where, many);
    const before = await listed(where);
    const of = (id: string) => before.find((session) => session.id === id);
    assert.equal(of("short")?.preview, "question 0 of short");
    assert.deepEqual([of("short")?.usage, of("short")?.usd], [{ input: 20, output: 4 }, 28]);
    assert.deepEqual(
      [of("guessed")?.preview, of("guessed")?.usage, of("guessed")?.usd],
      ["abcdef", undefined, 4],
    );
    assert.equal(of("cut")?.preview, `${"x".repeat(199)}\ufffd`);
    assert.equal(of("odd")?.preview, "a\0b");
    assert.deepEqual([of("system")?.preview, of("system")?.usd], [undefined, 14]);
    assert.deepEqual(
      [of("long")?.responses, of("long")?.preview, of("long")?.usage, of("long")?.usd],
      [21, "question 0 of long", undefined, undefined],
    );
    // whoever reads a text finds none
    await run(where, "update responses set data = 'no JSON'");
    assert.deepEqual(await listed(where), before);
  },
);

onEach(
  "a store of the version before opens, its sessions read as they did, and new ones beside them",
  async (where) => {
    await fill(where, many);
    const before = await listed(where);
    await run(
      where,
      "alter table responses drop column head",
      "delete from kysely_migration where name = '009-heads'",
    );
    assert.deepEqual(await listed(where), before);
    await fill(where, [
      { ...served("short", 2), at: 5000 },
      { ...served("new", 0), at: 6000 },
    ]);
    const [first, second] = await listed(where);
    assert.deepEqual([first?.id, first?.preview], ["new", "question 0 of new"]);
    assert.deepEqual([second?.id, second?.usage], ["short", { input: 30, output: 6 }]);
  },
);

onEach("a head that cannot be one, or is larger than any, counts as absent", async (where) => {
  await fill(where, many);
  const before = await listed(where);
  for (const head of [
    "{",
    "",
    "null",
    `{"tags":{},"opening":7}`,
    `{"tags":[{}]}`,
    `{"tags":{},"usage":{"input":"1","output":null}}`,
    `{"tags":{"a":"${"x".repeat(70_000)}"},"opening":"of somebody else"}`,
  ]) {
    await run(where, `update responses set head = '${head}'`);
    assert.deepEqual(await listed(where), before, head.slice(0, 80));
  }
});

onEach("what a row says of itself is rewritten with it when older ones are erased", async (where) => {
  const store = await openTrafficStore(where);
  const turns = [0, 1, 2].map((turn) => served("s", turn));
  await store.write(turns.map((response) => ({ kind: "response", response })));
  const [, ...kept] = await store.heads("s", 9);
  await store.erase({ before: 1001 });
  assert.deepEqual(await store.heads("s", 9), kept);
  assert.deepEqual(await store.heads("s", 1), kept.slice(0, 1));
  await store.close();
});
