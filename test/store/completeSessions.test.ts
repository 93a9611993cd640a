import assert from "node:assert/strict";
import { openTrafficStore } from "../../src/store/openTrafficStore.ts";
import type { SessionFilter, TrafficStore, Write } from "../../src/store/trafficStore.ts";
import { onEach } from "./each.ts";
import { served, signal } from "./served.ts";

/** The same sessions, read one by one. */
async function oneByOne(store: TrafficStore, { receivedUntil: until, withSignal, ...filter }: SessionFilter) {
  const matching = await Array.fromAsync(store.responses(filter));
  const ids = [...new Set(matching.map(({ session }) => session))];
  const read = ids.map(async (session) => ({
    id: session,
    responses: await Array.fromAsync(store.responses({ session })),
    signals: await Array.fromAsync(store.signals({ session, ...(until === undefined ? {} : { until }) })),
    matching: new Set(matching.filter((response) => response.session === session).map(({ id }) => id)),
  }));
  const { kinds, channel } = withSignal ?? {};
  return (await Promise.all(read)).filter(
    ({ signals }) =>
      !withSignal ||
      signals.some(
        (s) => (kinds?.includes(s.kind) ?? true) && (channel === undefined || channel === s.channel),
      ),
  );
}

const traffic: readonly Write[] = [
  // turns of two sessions in turn, at equal times; the later turns belong to another version
  ...[0, 1, 2].flatMap((turn) =>
    ["b", "a", "s", "quiet"].map((session): Write => {
      const more = { at: 1000 + turn, version: turn < 2 ? "v1" : "v2", user: `user of ${session}` };
      return { kind: "response", response: served(session, turn, more) };
    }),
  ),
  { kind: "response", response: served("a", 5, { trajectory: "a/1", at: 900 }) },
  ...[
    signal("on a response", { received: 10 }),
    signal("on two sessions", {
      kind: "preference",
      about: [{ response: "response-s-1" }, { response: "response-a-0" }],
      received: 9,
    }),
    signal("on a trajectory", { channel: "stars", about: [{ trajectory: "a/1" }], received: 20 }),
    signal("on a session", { kind: "correction", about: [{ session: "b" }], received: 30 }),
    signal("of nothing known", { about: [{ response: "elsewhere" }] }),
  ].map((one): Write => ({ kind: "signal", signal: one })),
];

onEach("complete sessions: as when each is read by itself, whatever the filter", async (where) => {
  const store = await openTrafficStore(where);
  await store.write(traffic);
  const filters: readonly SessionFilter[] = [
    {},
    { version: "v2" },
    { session: "a" },
    { id: "response-s-1" },
    { user: "user of b", from: 1001 },
    { from: 1000, until: 1001 },
    { receivedUntil: 20 },
    { withSignal: {} },
    { withSignal: { kinds: ["reaction"] } },
    { withSignal: { kinds: ["correction", "preference"] }, version: "v2" },
    { withSignal: { channel: "stars" } },
    { withSignal: { kinds: ["reaction"], channel: "stars" }, receivedUntil: 20 },
    { withSignal: { kinds: ["reaction"] }, receivedUntil: 11 },
    { version: "none" },
  ];
  for (const filter of filters) {
    const found = await Array.fromAsync(store.completeSessions(filter));
    assert.deepEqual(found, await oneByOne(store, filter), JSON.stringify(filter));
  }
  const ids = async (filter: SessionFilter) =>
    (await Array.fromAsync(store.completeSessions(filter))).map(({ id }) => id);
  assert.deepEqual(await ids({}), ["a", "b", "quiet", "s"]);
  assert.deepEqual(await ids({ withSignal: {} }), ["a", "b", "s"]);
  assert.deepEqual(
    await ids({ withSignal: { kinds: ["reaction"], channel: "stars" }, receivedUntil: 20 }),
    [],
  );
  assert.deepEqual(await ids({ withSignal: { kinds: ["preference"] } }), ["a", "s"]);
  await store.close();
});

onEach("complete sessions: more than a page of them, each once, in order", async (where) => {
  const store = await openTrafficStore(where);
  const sessions = Array.from({ length: 2100 }, (_, s) => `${s}`.padStart(4, "0"));
  await store.write(
    sessions.flatMap((session, s) =>
      [0, 1].map((turn): Write => {
        const at = Math.floor(s / 700) + 10 * turn;
        return { kind: "response", response: served(session, turn, { at }) };
      }),
    ),
  );
  const found = await Array.fromAsync(store.completeSessions());
  assert.deepEqual(
    found.map(({ id }) => id),
    sessions,
  );
  assert.ok(found.every(({ responses }) => responses.length === 2));
  await store.close();
});
