import assert from "node:assert/strict";
import { test } from "node:test";
import { sharedWeights, weightsCache } from "../../../src/serve/tinker/sharedWeights.ts";

type Weights = { dispose(): Promise<void> };
/** Weights that only tell what becomes of them. */
function weights(name: string, events: string[]): Promise<Weights> {
  events.push(`open ${name}`);
  return Promise.resolve({
    dispose: async (): Promise<void> => {
      events.push(`dispose ${name}`);
    },
  });
}
const rest = () => new Promise((resolve) => setImmediate(resolve));

test("weights are disposed of once the work on them is done", async () => {
  const events: string[] = [];
  const one = sharedWeights(weights("a", events));
  const work = Promise.withResolvers<number>();
  const running = one.use(() => work.promise);
  const released = one.release();
  await rest();
  assert.deepEqual(events, ["open a"]);
  work.resolve(3);
  assert.equal(await running, 3);
  await released;
  assert.deepEqual(events, ["open a", "dispose a"]);
});

test("a shelf has so many open, opens one again that made room, and keeps none that could not be opened", async () => {
  const events: string[] = [];
  const saves = weightsCache<Weights>(2);
  const use = (name: string) =>
    saves.use(
      name,
      () => weights(name, events),
      async () => name,
    );
  for (const name of ["a", "b", "a", "c", "b"]) assert.equal(await use(name), name);
  await rest();
  assert.deepEqual(events, ["open a", "open b", "open c", "dispose b", "open b", "dispose a"]);
  await saves.close("c");
  assert.equal(events.at(-1), "dispose c");

  const broken = () => Promise.reject<Weights>(new Error("damaged"));
  await assert.rejects(
    saves.use("d", broken, async () => 1),
    /damaged/,
  );
  assert.equal(await use("d"), "d");
});
