import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { ridge } from "../../src/helper/ridge.ts";

const near = (got: number, want: number, tolerance = 1e-9): void =>
  assert.ok(Math.abs(got - want) <= tolerance * Math.max(1, Math.abs(want)), `${got}, expected ${want}`);
const one = (x: Readonly<Record<string, number>>, y: number, weight = 1) => ({ x, y, weight });

test("ridge is worked by hand", async () => {
  const helper = ridge({ strength: 1 })();
  // a alone: θ = Σxy / (Σx² + λ) = (1 · 2 + 2 · 5) / (1 + 4 + 1) = 2; left over 2 − 2 and 5 − 4
  near((await helper.fit([one({ a: 1 }, 2), one({ a: 2 }, 5)])).error!, 0.5);
  near((await helper.predict([{ a: 3 }]))[0]!, 6);
  // two features that turn up together share the credit: θ = (xxᵀ + I)⁻¹ x y = 3/3 each
  const shared = ridge({ strength: 1 })();
  await shared.fit([one({ a: 1, b: 1 }, 3)]);
  assert.deepEqual((await shared.predict([{ a: 1 }, { b: 1 }, { c: 5 }])).map(Math.round), [1, 1, 0]);
});

const names = ["a", "b", "c", "d"];
const rows = fc.array(
  fc.record({
    x: fc.dictionary(fc.constantFrom(...names), fc.integer({ min: -3, max: 3 })),
    y: fc.integer({ min: -4, max: 4 }),
    weight: fc.constantFrom(0.5, 1, 2),
  }),
  { minLength: 1, maxLength: 12 },
);

test("ridge: the slope of its loss is zero where it stands", async () => {
  await fc.assert(
    fc.asyncProperty(rows, async (given) => {
      const strength = 0.3;
      const helper = ridge({ strength })();
      await helper.fit(given);
      const said = await helper.predict(given.map(({ x }) => x));
      for (const name of names) {
        // ∂/∂θ of ½ Σ w (θx − y)² + ½ λ θ²
        const [theta] = await helper.predict([{ [name]: 1 }]);
        const slope = given.reduce(
          (sum, { x, y, weight }, i) => sum + weight * (said[i]! - y) * (x[name] ?? 0),
          strength * theta!,
        );
        near(slope, 0, 1e-8);
      }
    }),
    { seed: 6, numRuns: 60 },
  );
});

test("ridge: rows in two fits are rows in one, and what it saves is what it knows", async () => {
  await fc.assert(
    fc.asyncProperty(rows, rows, async (first, second) => {
      const xs = [...first, ...second].map(({ x }) => x);
      const [once, twice, later] = [ridge()(), ridge()(), ridge()()];
      await once.fit([...first, ...second]);
      await twice.fit(first);
      later.load(JSON.parse(JSON.stringify(twice.save())));
      await twice.fit(second);
      await later.fit(second);
      const want = await once.predict(xs);
      (await twice.predict(xs)).forEach((got, i) => {
        near(got, want[i]!, 1e-8);
      });
      assert.deepEqual(await later.predict(xs), await twice.predict(xs));
    }),
    { seed: 7, numRuns: 30 },
  );
});

test("ridge forgets at the rate it is told, and takes no rows and no foreign state", async () => {
  const helper = ridge({ strength: 1, keep: 0 })();
  await helper.fit([one({ a: 1 }, 100)]);
  await helper.fit([one({ a: 1 }, 2)]);
  near((await helper.predict([{ a: 1 }]))[0]!, 1); // 2 / (1 + 1)
  assert.deepEqual(await ridge()().fit([]), { rows: 0 });
  assert.throws(() => ridge()().load({ names: 3 }), { code: "checkpoint.damaged" });
  assert.throws(() => ridge()().load({ names: ["a"], gram: [["x"]], moment: [0] }), {
    code: "checkpoint.damaged",
  });
});
