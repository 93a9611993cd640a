import assert from "node:assert/strict";
import { globSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ReceivedSignal, ServedResponse } from "../../src/core/served.ts";
import { openProduction } from "../../src/store/openProduction.ts";
import type { Production, Write } from "../../src/store/production.ts";
import { withCode } from "../train/world.ts";
import { folder, onEach, postgres } from "./each.ts";
import { all, served, signal } from "./served.ts";

async function withStore(where: string, work: (store: Production) => Promise<void>): Promise<void> {
  const store = await openProduction(where);
  try {
    await work(store);
  } finally {
    await store.close();
  }
}

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
  const store = await openProduction(where, { redaction: { onRedacted } });
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
