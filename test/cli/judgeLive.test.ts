/** `whetstone judge STORE --live`: what is served is judged as it comes, and the scores are feedback. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import type { ReceivedSignal } from "../../src/core/served.ts";
import { stratified } from "../../src/evaluator/stratified.ts";
import { gate } from "../../src/serve/auth.ts";
import { inboxRoutes } from "../../src/serve/dashboard/inbox.ts";
import type { InboxPage } from "../../src/serve/dashboard/types.ts";
import { openTrafficStore } from "../../src/store/openTrafficStore.ts";
import type { TrafficStore } from "../../src/store/trafficStore.ts";
import { assistant, response, signal, user } from "../exchange/served.ts";
import { temporary } from "../temporary.ts";
import { inProcess } from "./inProcess.ts";

const folder = mkdtempSync(join(temporary, "whetstone-live-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const judge = join(folder, "polite.ts");
writeFileSync(
  judge,
  `export default { name: "polite", score: async (items) => items.map(({ reply }) => {
     if (reply === "broken") throw new Error("no answer");
     return { score: reply.includes("please") ? 1 : 0 };
   }) };`,
);

const now = Date.now();
let made = 0;
/** A store with conversations of one turn, an hour old. */
async function storeWith(
  replies: readonly {
    readonly id: string;
    readonly says: string;
    readonly version?: string;
    readonly ago?: number;
  }[],
  signals: readonly ReceivedSignal[] = [],
): Promise<string> {
  const where = join(folder, `${++made}.sqlite`);
  const store = await openTrafficStore(where);
  await store.write([
    ...replies.map(({ id, says, version = "v1", ago = 3_600_000 }) => ({
      kind: "response" as const,
      response: response({
        ...{ id, session: `s-${id}`, trajectory: `s-${id}/0`, version, at: now - ago },
        prompt: [user(`for ${id}`)],
        choices: [{ message: assistant(says), stop: "eos" as const }],
      }),
    })),
    ...signals.map((one) => ({ kind: "signal" as const, signal: one })),
  ]);
  await store.close();
  return where;
}

async function reading<T>(where: string, work: (store: TrafficStore) => Promise<T>): Promise<T> {
  const store = await openTrafficStore(where);
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}
const judgements = (where: string, channel = "judge"): Promise<readonly ReceivedSignal[]> =>
  reading(where, (store) => Array.fromAsync(store.signals({ channel })));
const live = (where: string, ...more: string[]) =>
  inProcess(["judge", where, "--evaluator", judge, "--live", "--once", ...more]);

test("quiet conversations are judged once, and their scores are feedback on the last reply", async () => {
  const where = await storeWith([
    { id: "a", says: "please wait" },
    { id: "b", says: "wait" },
    { id: "new", says: "please", ago: 1000 },
    { id: "broken", says: "broken" },
  ]);
  const first = await live(where);
  assert.equal(first.code, 0, first.err);
  const found = await judgements(where);
  assert.deepEqual(
    found.map(({ about, value, source, kind }) => [about[0]!.response, value, source, kind]).sort(),
    [
      ["a", 1, `judge:${judge}`, "score"],
      ["b", 0, `judge:${judge}`, "score"],
    ],
  );
  for (const { tags } of found) assert.match(tags["judge.version"] ?? "", /^[0-9a-f]{12}$/);
  assert.match(first.out, /2 judged, 1 failed/);
  assert.match(first.err, /The first without a score: no answer/);
  await live(where);
  assert.equal((await judgements(where)).length, 2, "nothing is judged twice");
  await live(where, "--quiet", "1s", "--channel", "politeness");
  assert.equal((await judgements(where, "politeness")).length, 3, "another channel is another judgement");
});

test("at most so many an hour are judged, over restarts too, and strata take turns", async () => {
  const many = Array.from({ length: 20 }, (_, i) => ({ id: `m${i}`, says: "please" }));
  const rare = [{ id: "r", says: "please", version: "v2" }];
  const where = await storeWith([...many, ...rare]);
  await live(where, "--hourly", "3");
  const found = await judgements(where);
  assert.equal(found.length, 3);
  assert.ok(
    found.some(({ about }) => about[0]!.response === "r"),
    "the rare version is among them",
  );
  await live(where, "--hourly", "3");
  assert.equal((await judgements(where)).length, 3);
  await live(where, "--hourly", "5");
  assert.equal((await judgements(where)).length, 5);
});

test("the least judged stratum comes first, and a choice does not depend on the order", () => {
  const items = [..."abcdef"].map((id) => ({ id, stratum: id < "e" ? "common" : "rare" }));
  const counts = new Map([["rare", 1]]);
  const chosen = stratified(items, counts, 4);
  assert.deepEqual(
    chosen.map((id) => (id < "e" ? "common" : "rare")),
    ["common", "common", "rare", "common"],
  );
  assert.deepEqual(stratified(items.toReversed(), counts, 4), chosen);
  assert.equal(stratified(items, counts, 100).length, 6);
});

test("where a judge and a person disagree, the inbox shows it first", async () => {
  const thumb = (id: string, about: string, value: number): ReceivedSignal =>
    signal({
      id,
      kind: "reaction",
      value,
      text: "thumbs",
      about: [{ response: about }],
      at: now,
      received: now,
    });
  const where = await storeWith(
    [
      { id: "a", says: "please wait" },
      { id: "b", says: "wait" },
    ],
    [thumb("t1", "a", 0), thumb("t2", "b", 0)],
  );
  await live(where);
  await reading(where, async (store) => {
    await store.write([{ kind: "signal", signal: { ...thumb("t3", "b", 0), received: Date.now() + 1 } }]);
    const door = gate({ production: store, open: true, signing: new Uint8Array(32) });
    const page = (await (await inboxRoutes(store, door).request("/api/inbox")).json()) as InboxPage;
    const [first, ...others] = page.items;
    assert.deepEqual(
      [first!.signal.source.startsWith("judge:"), first!.reply!.response, first!.disagrees, first!.wanting],
      [true, "a", { with: "user", value: 0 }, true],
    );
    assert.ok(others.every(({ disagrees }) => disagrees === undefined));
  });
});

test("a judge that answers nothing ends with an error", async () => {
  const where = await storeWith([{ id: "a", says: "broken" }]);
  const { code, out, err } = await live(where);
  assert.equal(code, 1);
  assert.match(out, /0 judged, 1 failed/);
  assert.match(err, /no answer/);
  assert.deepEqual(await judgements(where), []);
});

test("what cannot go with --live is refused", async () => {
  const where = await storeWith([{ id: "a", says: "x" }]);
  const { code, err } = await live(where, "--out", join(folder, "scores.jsonl"));
  assert.equal(code, 2);
  assert.match(err, /--out: got it beside --live/);
});
