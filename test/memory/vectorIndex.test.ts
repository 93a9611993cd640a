import assert from "node:assert/strict";
import { test } from "node:test";
import { dot, unitVector } from "../../src/core/encoder.ts";
import { isWhetstoneError } from "../../src/core/errors.ts";
import { randomStream } from "../../src/core/random.ts";
import { vectorIndex } from "../../src/memory/vectorIndex.ts";

/** Points around centres, as texts about the same things are. */
function points(count: number, width: number, seed: number): Float32Array[] {
  const random = randomStream(seed);
  const noise = (): number[] => Array.from({ length: width }, () => random.normal());
  const centres = Array.from({ length: 40 }, noise);
  return Array.from({ length: count }, () => {
    const centre = centres[random.below(centres.length)]!;
    return unitVector(noise().map((x, i) => x + centre[i]!));
  });
}

test("the nearest by cosine, the best first", () => {
  const index = vectorIndex(2);
  index.set("east", [1, 0]);
  index.set("north", [0, 1]);
  index.set("north-east", unitVector([1, 1]));
  // cosines with (0.6, 0.8): east 0.6, north 0.8, north-east 1.4/√2 = 0.98995
  const found = index.search([0.6, 0.8], 2);
  assert.deepEqual(
    found.map(({ id }) => id),
    ["north-east", "north"],
  );
  assert.ok(Math.abs(found[0]!.score - 0.98995) < 0.005);
  assert.deepEqual(
    index.search([0.6, 0.8], 2, (id) => id !== "north-east").map(({ id }) => id),
    ["north", "east"],
  );
  assert.deepEqual(index.search([0.6, 0.8], 0), []);
});

test("sketches of a few bits find nearly all that comparing everything finds", () => {
  const all = points(6000, 128, 3);
  const index = vectorIndex(128, { shortlist: 600 });
  for (const [i, vector] of all.entries()) index.set(`${i}`, vector);
  let shared = 0;
  const queries = points(20, 128, 3);
  for (const query of queries) {
    const cosine = all.map((vector) => dot(vector, query));
    const exact = [...cosine.keys()].sort((a, b) => cosine[b]! - cosine[a]!).slice(0, 10);
    const found = new Set(index.search(query, 10).map(({ id }) => Number(id)));
    shared += exact.filter((i) => found.has(i)).length;
  }
  assert.ok(shared / (10 * queries.length) >= 0.95, `recall ${shared / (10 * queries.length)}`);
});

test("what is replaced or deleted is found no more, the rest as before", () => {
  const all = points(300, 32, 5);
  const index = vectorIndex(32);
  for (const [i, vector] of all.entries()) index.set(`${i}`, vector);
  for (let i = 0; i < 300; i += 2) assert.equal(index.delete(`${i}`), true);
  assert.equal(index.delete("0"), false);
  index.set("1", all[0]!);
  assert.equal(index.size, 150);
  assert.equal(index.search(all[0]!, 1)[0]!.id, "1");
  for (let i = 3; i < 300; i += 2) assert.equal(index.search(all[i]!, 1)[0]!.id, `${i}`);
});

test("a vector of another length is refused by name", () => {
  assert.throws(
    () => vectorIndex(4).set("a", [1, 0]),
    (e) => isWhetstoneError(e) && /2 numbers.*expected 4/s.test(e.message),
  );
});
