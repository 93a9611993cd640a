import assert from "node:assert/strict";
import { test } from "node:test";
import type { Encoder } from "../../src/core/encoder.ts";
import type { EntryAtCursor, EntryStore } from "../../src/core/entryStore.ts";
import { fused, openRetrieval } from "../../src/memory/retrieval.ts";

/** A shelf in memory. */
function shelf(): EntryStore {
  const all = new Map<string, EntryAtCursor>();
  let place = 0;
  return {
    put: async (_, entries) => {
      for (const entry of entries) {
        all.delete(entry.id);
        all.set(entry.id, { place: ++place, entry });
      }
      return place - entries.length + 1;
    },
    delete: async (_, ids) => {
      for (const id of ids) all.delete(id);
    },
    since: async function* (_, after) {
      for (const placed of all.values()) if (placed.place > after) yield placed;
    },
    count: async () => all.size,
    ids: async () => [...all.keys()],
  };
}

const entries = [
  { id: "jam", text: "the printer jams on thick paper", data: { plan: "use the rear tray" } },
  { id: "ink", text: "colours look pale on the printer" },
  { id: "refund", text: "a refund has not arrived" },
];

test("reciprocal rank fusion as worked out by hand", () => {
  const hit = (id: string) => ({ id, score: 1 });
  // a: 1/61 + 1/62, b: 1/62 + 1/61, c: 1/63: a came first of the equals
  const out = fused([
    [hit("a"), hit("b"), hit("c")],
    [hit("b"), hit("a")],
  ]);
  assert.deepEqual(
    out.map(({ id }) => id),
    ["a", "b", "c"],
  );
  assert.ok(Math.abs(out[0]!.score - (1 / 61 + 1 / 62)) < 1e-12);
});

test("entries come back whole, found by words, by likeness and by both", async () => {
  const index = await openRetrieval();
  await index.put(entries);
  const ids = async (query: string, by: "words" | "vectors" | "both"): Promise<string[]> =>
    (await index.search(query, { by, count: 2 })).map(({ entry }) => entry.id);
  assert.deepEqual(await ids("refund", "words"), ["refund"]);
  // no word is shared as it is written: "refunds", "arriving"
  assert.deepEqual(await ids("refunds arriving", "words"), []);
  assert.equal((await ids("refunds arriving", "vectors"))[0], "refund");
  assert.equal((await ids("paper jammed in the printer", "both"))[0], "jam");
  const [found] = await index.search("thick paper");
  assert.deepEqual(found?.entry, entries[0]);
  const [kept] = await index.search("printer", { keep: ({ id }) => id === "ink" });
  assert.equal(kept?.entry.id, "ink");
});

test("what was put is on the shelf, also for another process, with its replacements and deletions", async () => {
  const common = shelf();
  const ours = await openRetrieval({ store: common });
  const theirs = await openRetrieval({ store: common });
  await ours.put(entries);
  assert.equal(theirs.size, 0);
  assert.equal(await theirs.refresh(), 3);
  await ours.delete(["ink"]);
  await ours.put([{ id: "jam", text: "an envelope is stuck" }]);
  assert.equal(await theirs.refresh(), 2);
  assert.equal(await theirs.refresh(), 0);
  // what one put oneself is not read again
  assert.equal(await ours.refresh(), 0);
  const again = await openRetrieval({ store: common });
  for (const index of [ours, theirs, again]) {
    assert.equal(index.size, 2);
    assert.equal((await index.search("envelopes stuck", { count: 1 }))[0]?.entry.id, "jam");
    assert.deepEqual(await index.search("printer colours", { by: "words" }), []);
  }
});

test("of two entries with one id that are put at once the later one counts, and it alone is embedded", async () => {
  const embedded: string[] = [];
  const encoder: Encoder = {
    id: "one",
    width: 1,
    embed: async (texts) => {
      embedded.push(...texts);
      return texts.map(() => Float32Array.of(1));
    },
  };
  const common = shelf();
  const index = await openRetrieval({ store: common, encoder });
  await index.put([
    { id: "a", text: "paper" },
    { id: "b", text: "ink" },
    { id: "a", text: "glass" },
  ]);
  assert.deepEqual(embedded, ["glass", "ink"]);
  assert.equal(await common.count("memory"), 2);
  assert.equal(index.get("a")?.text, "glass");
  assert.equal(await index.refresh(), 0);
});

test("vectors of another encoder are not compared: their texts are embedded anew", async () => {
  const asked: string[][] = [];
  const other: Encoder = {
    id: "other",
    width: 2,
    embed: async (texts) => {
      asked.push([...texts]);
      return texts.map((text) =>
        Float32Array.of(Number(text.includes("printer")), Number(!text.includes("printer"))),
      );
    },
  };
  const common = shelf();
  await (await openRetrieval({ store: common })).put(entries);
  const index = await openRetrieval({ store: common, encoder: other });
  assert.deepEqual(asked, [entries.map(({ text }) => text)]);
  const [found] = await index.search("no machine", { by: "vectors", count: 1 });
  assert.equal(found?.entry.id, "refund");
});

test("a shelf that fails leaves nothing half there", async () => {
  const broken: EntryStore = { ...shelf(), put: () => Promise.reject(new Error("full")) };
  const index = await openRetrieval({ store: broken });
  await assert.rejects(index.put(entries), /full/);
  assert.equal(index.size, 0);
});
