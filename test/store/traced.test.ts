/** Calls of tools and retrievals in the store of production. */
import assert from "node:assert/strict";
import type { TracedCall } from "../../src/core/served.ts";
import { openTrafficStore } from "../../src/store/openTrafficStore.ts";
import { withCode } from "../train/world.ts";
import { onEach } from "./each.ts";
import { all, served } from "./served.ts";

const call = (id: string, more: Partial<TracedCall> = {}): { kind: "traced"; call: TracedCall } => ({
  kind: "traced",
  call: {
    id,
    session: "session-of-ann",
    user: "ann-of-example",
    kind: "tool",
    name: "look",
    at: 1000,
    ms: 2.5,
    input: '{"at":"door"}',
    output: "a red door",
    tags: { "otlp.span": "t/s" },
    ...more,
  },
});

onEach("traced calls come back as they were, by time, once each, of a session or a user", async (where) => {
  const store = await openTrafficStore(where);
  const late = call("late", { at: 3000 });
  const bare = call("bare", { session: "other", kind: "retrieval", at: 2000, error: "it broke" });
  const { user: _, input: __, output: ___, ...without } = bare.call;
  const written = await store.write([late, { kind: "traced", call: without }, call("first")]);
  assert.deepEqual(
    written.map(({ duplicate }) => duplicate),
    [false, false, false],
  );
  assert.deepEqual(await store.write([call("first", { output: "another" })]), [
    { id: "first", duplicate: true },
  ]);
  assert.deepEqual(await all(store.traced()), [call("first").call, without, late.call]);
  assert.deepEqual(
    (await all(store.traced({ user: "ann-of-example" }))).map(({ id }) => id),
    ["first", "late"],
  );
  assert.deepEqual(await all(store.traced({ session: "other" })), [without]);
  await assert.rejects(store.write([call("endless", { ms: Number.NaN })]), withCode("store.refused"));
  await store.close();
});

onEach(
  "traced calls are erased with their user, their session and by age, and not taken again",
  async (where) => {
    const store = await openTrafficStore(where);
    // one session has no response at all: only its calls say whose it is
    await store.write([
      { kind: "response", response: served("session-of-bob", 0, { user: "bob-of-example", at: 5000 }) },
      call("of-ann"),
      call("of-bob", { session: "session-of-bob", user: "bob-of-example", at: 5000 }),
      call("old", { session: "session-of-cleo", user: "cleo-of-example", at: 10 }),
    ]);
    const byUser = await store.erase({ user: "ann-of-example" });
    assert.deepEqual([byUser.traced, byUser.found], [1, { rows: 0, bytes: 0, exports: 0 }]);
    await assert.rejects(store.write([call("again")]), withCode("store.erased"));
    const byAge = await store.erase({ before: 100 });
    assert.deepEqual([byAge.traced, byAge.found], [1, { rows: 0, bytes: 0, exports: 0 }]);
    const bySession = await store.erase({ session: "session-of-bob" });
    assert.deepEqual([bySession.traced, bySession.responses], [1, 1]);
    assert.deepEqual(await all(store.traced()), []);
    await store.close();
  },
);

onEach("personal data in arguments and results is taken out before anything is stored", async (where) => {
  const store = await openTrafficStore(where, { redaction: { rules: ["email"] } });
  await store.write([
    call("mail", {
      input: "to ann@example.org",
      output: "sent to ann@example.org",
      error: "no ann@example.org",
    }),
  ]);
  const [found] = await all(store.traced());
  assert.deepEqual(
    [found!.input, found!.output, found!.error],
    ["to [email]", "sent to [email]", "no [email]"],
  );
  await store.close();
});
