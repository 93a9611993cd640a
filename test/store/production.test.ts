import assert from "node:assert/strict";
import { globSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ReceivedSignal, ServedResponse } from "../../src/core/served.ts";
import { openProduction } from "../../src/store/openProduction.ts";
import type { Production, Write } from "../../src/store/production.ts";
import { withCode } from "../train/world.ts";
import { folder, onEach, postgres } from "./each.ts";

async function withStore(where: string, work: (store: Production) => Promise<void>): Promise<void> {
  const store = await openProduction(where);
  try {
    await work(store);
  } finally {
    await store.close();
  }
}

/** Turn `turn` of a conversation: each prompt is the one before, its reply and a new question. */
function served(session: string, turn: number, more: Partial<ServedResponse> = {}): ServedResponse {
  const prompt = [{ role: "system" as const, content: `system of ${session}` }];
  const said = (t: number) => [
    { role: "user" as const, content: `question ${t} of ${session}` },
    { role: "assistant" as const, content: `answer ${t} of ${session}` },
  ];
  const history = Array.from({ length: turn }, (_, t) => said(t)).flat();
  const ids = Int32Array.from({ length: 4 + 3 * turn }, (_, i) => i);
  return {
    id: `response-${session}-${turn}`,
    session,
    trajectory: `${session}/0`,
    turn,
    origin: "gateway",
    at: 1000 + turn,
    ms: 12.5,
    version: "v1",
    propensity: 0.25,
    model: "small",
    settings: { temperature: 0.7, stop: ["\n"] },
    prompt: [...prompt, ...history, said(turn)[0]!],
    choices: [
      {
        message: said(turn)[1]!,
        stop: "eos",
        tokens: {
          prompt: ids,
          action: Int32Array.of(ids.length, ids.length + 1),
          logp: Float32Array.of(-0.1, -0.2),
          behaviour: Float32Array.of(-0.1, Number.NEGATIVE_INFINITY),
        },
      },
      { message: { role: "assistant", content: "another" }, stop: "length" },
    ],
    status: "complete",
    usage: { input: 10, output: 2 },
    channels: ["thumb"],
    tags: { app: "test", __proto__x: "kept" },
    ...more,
  };
}

const signal = (id: string, more: Partial<ReceivedSignal> = {}): ReceivedSignal => ({
  id,
  kind: "reaction",
  channel: "thumb",
  about: [{ response: "response-s-0" }],
  value: 1,
  text: "thumbs_up \u0000 \ud83d\ude00",
  source: "user",
  at: 5,
  received: 6,
  tags: {},
  ...more,
});

const write = (response: ServedResponse): Write => ({ kind: "response", response });
const give = (s: ReceivedSignal): Write => ({ kind: "signal", signal: s });

/** All that the database has on its disk, but for PostgreSQL's log. */
async function bytesOf(where: string): Promise<string> {
  const started = where.startsWith("postgres:") ? await postgres() : undefined;
  const files =
    typeof started === "object"
      ? globSync(`${started.folder}/data/base/*/*`).filter((file) => statSync(file).isFile())
      : [where, `${where}-wal`];
  return files.map((file) => readFileSync(file, "latin1")).join("\n");
}

async function all<T>(rows: AsyncIterable<T>): Promise<T[]> {
  const out: T[] = [];
  for await (const row of rows) out.push(row);
  return out;
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
    const store = await openProduction(where);
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
    assert.doesNotMatch(await bytesOf(where), /mine-12345678|mine-user|secret of mine/);
    assert.match(await bytesOf(where), /other-12345678/);
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
