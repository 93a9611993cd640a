/** Places are shared by those who ask. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { places } from "../../src/serve/places.ts";

const forever = new AbortController().signal;
type Place = { leave(): void };

/** Asks in order, and keeps what comes of each. */
function asking(limits: { readonly atOnce: number; readonly waiting: number }) {
  const all = places(limits);
  const order: string[] = [];
  const held = new Map<string, Place>();
  const ask = (name: string, count = 1, gone: AbortSignal = forever): void => {
    void all.take(count, gone, name[0]!).then((place) => {
      order.push(typeof place === "string" ? `${name} ${place}` : name);
      if (typeof place !== "string") held.set(name, place);
    });
  };
  const settled = (): Promise<void> => new Promise((go) => setImmediate(go));
  return {
    order,
    ask,
    settled,
    async leave(name: string) {
      held.get(name)!.leave();
      await settled();
    },
  };
}

test("who has the fewest places is next, and of one's own requests the oldest", async () => {
  const { ask, order, leave, settled } = asking({ atOnce: 2, waiting: 10 });
  for (const name of ["a1", "a2", "a3", "a4", "b1", "b2"]) ask(name);
  await settled();
  assert.deepEqual(order, ["a1", "a2"]);
  await leave("a1");
  assert.equal(order.at(-1), "b1", "b has none");
  await leave("a2");
  assert.equal(order.at(-1), "a3", "a has none now, and asked before");
  await leave("b1");
  assert.equal(order.at(-1), "b2");
});

test("one who fills the queue loses the latest to another, and cannot take the other's", async () => {
  const { ask, order, leave, settled } = asking({ atOnce: 1, waiting: 3 });
  for (const name of ["a1", "a2", "a3", "a4", "a5"]) ask(name);
  await settled();
  assert.deepEqual(order.toSorted(), ["a1", "a5 full"]);
  ask("b1");
  await settled();
  assert.deepEqual(order.slice(2), ["a4 full"]);
  ask("b2");
  ask("a6");
  await settled();
  assert.deepEqual(order.slice(3), ["b2 full", "a6 full"], "two of a and one of b: neither has more to give");
  await leave("a1");
  assert.equal(order.at(-1), "a2");
});

test("one that takes many places is not overtaken for ever, and one that has gone frees the queue", async () => {
  const { ask, order, leave, settled } = asking({ atOnce: 2, waiting: 10 });
  ask("a1");
  const gone = new AbortController();
  ask("b1", 5, gone.signal);
  ask("c1");
  await settled();
  assert.deepEqual(order, ["a1"], "b1 takes both places and comes first");
  gone.abort();
  await settled();
  assert.deepEqual(order, ["a1", "b1 gone", "c1"]);
  ask("b2", 2);
  await leave("a1");
  assert.equal(order.length, 3);
  await leave("c1");
  assert.equal(order.at(-1), "b2");
});
