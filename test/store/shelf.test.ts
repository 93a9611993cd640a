import assert from "node:assert/strict";
import { packVector } from "../../src/core/encoder.ts";
import type { EntryAtCursor, OpenEntryStore, StoredEntry } from "../../src/core/entryStore.ts";
import { isWhetstoneError } from "../../src/core/errors.ts";
import { openEntryStore } from "../../src/store/entryStore.ts";
import { openTrafficStore } from "../../src/store/openTrafficStore.ts";
import { onEach } from "./each.ts";
import { served } from "./served.ts";

const entry = (id: string, more: Partial<StoredEntry> = {}): StoredEntry => ({
  id,
  text: `text of ${id}`,
  vector: packVector([0.6, -0.8]),
  encoder: "hand/2",
  ...more,
});

async function all(shelf: OpenEntryStore, collection: string, place = 0): Promise<EntryAtCursor[]> {
  const out: EntryAtCursor[] = [];
  for await (const placed of shelf.since(collection, place)) out.push(placed);
  return out;
}

onEach(
  "entries come back whole, in order, replaced ones at the end, also more than a page",
  async (where) => {
    const shelf = await openEntryStore(where);
    const from = { sessions: ["s"], users: [], responses: [], signals: [] };
    const whole = entry("a", { data: { plan: ["x", null, 1] }, from });
    const first = await shelf.put("one", [whole, entry("b")]);
    assert.deepEqual(
      (await all(shelf, "one")).map((placed) => placed),
      [
        { place: first, entry: whole },
        { place: first + 1, entry: entry("b") },
      ],
    );
    await shelf.put("other", [entry("a", { text: "another collection" })]);
    const again = await shelf.put("one", [entry("a", { text: "new" })]);
    assert.deepEqual(
      (await all(shelf, "one")).map(({ entry: { id, text } }) => [id, text]),
      [
        ["b", "text of b"],
        ["a", "new"],
      ],
    );
    assert.equal((await all(shelf, "one", again)).length, 0);
    await shelf.delete("one", ["a", "nobody"]);
    assert.deepEqual([await shelf.ids("one"), await shelf.count("one")], [["b"], 1]);
    // the place of what was the last is not used again
    assert.ok((await shelf.put("one", [entry("c")])) > again);
    const many = Array.from({ length: 1203 }, (_, i) => entry(`${i}`));
    const from0 = await shelf.put("many", many);
    await shelf.close();
    const opened = await openEntryStore(where);
    const read = await all(opened, "many");
    assert.deepEqual(
      read.map(({ entry: { id } }) => id),
      many.map(({ id }) => id),
    );
    assert.deepEqual([read[0]!.place, read.at(-1)!.place], [from0, from0 + 1202]);
    await opened.close();
  },
);

onEach("what was made from somebody's data goes with it, and nothing more of it is taken", async (where) => {
  const production = await openTrafficStore(where);
  const shelf = await openEntryStore(where);
  await production.write([{ kind: "response", response: served("session-of-ann", 0, { user: "ann" }) }]);
  const none = { sessions: [], users: [], responses: [], signals: [] };
  await shelf.put("one", [
    entry("by session", { from: { ...none, sessions: ["session-of-ann"] } }),
    entry("by user", { from: { ...none, users: ["ann"] } }),
    entry("by response", { from: { ...none, responses: ["response-session-of-ann-0"] } }),
    entry("of another", { from: { ...none, users: ["bob"] } }),
    entry("of nobody"),
  ]);
  const erasure = await production.erase({ user: "ann" });
  assert.equal(erasure.entries, 3);
  assert.deepEqual([erasure.found.rows, erasure.found.bytes], [0, 0]);
  assert.deepEqual((await shelf.ids("one")).toSorted(), ["of another", "of nobody"]);
  await assert.rejects(
    shelf.put("one", [entry("late", { from: { ...none, sessions: ["session-of-ann"] } })]),
    (e) => isWhetstoneError(e) && e.code === "store.erased",
  );
  assert.equal(await shelf.count("one"), 2);
  await shelf.close();
  await production.close();
});
