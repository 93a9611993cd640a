import assert from "node:assert/strict";
import { test } from "node:test";
import type { TokenRows } from "../../src/core/batch.ts";
import type { Json } from "../../src/core/json.ts";
import type { Frozen } from "../../src/core/model.ts";
import { anchorDivergence } from "../../src/feedback/anchorDivergence.ts";
import { ctxOf, trajectoryOf, turnOf } from "../core/make.ts";

/** An anchor that finds every token e^−0.5 likely. */
function anchored() {
  const asked: string[] = [];
  const anchor: Pick<Frozen, "score"> = {
    score: async (rows: TokenRows) => ({
      logp: new Float32Array(rows.target_A.length).fill(-0.5),
      heads: {},
    }),
  };
  const kept = new Map<string, Json>();
  const ctx = ctxOf({
    memory: { get: (key) => kept.get(key), set: (key, value) => void kept.set(key, value) },
    frozen: (name) => {
      asked.push(name);
      return anchor as Frozen;
    },
  });
  return { ctx, asked };
}

test("anchorDivergence is worked by hand, over rows that begin anew as well", async () => {
  // turns of logp −0.1, −0.2 each; the second prompt does not extend the first, so there are two rows
  const t = trajectoryOf("t", [turnOf([1], [2, 3]), turnOf([7], [8, 9])]);
  const alone = trajectoryOf("other", [turnOf([1], [2])]);
  const units = [{ id: "t", group: "g", members: ["t"] }];
  const { ctx, asked } = anchored();
  const signals = await anchorDivergence({ from: "anchor", coefficient: 2 })(
    ctx,
    { trajectories: [t, alone], units },
    {},
  );
  assert.deepEqual(asked, ["anchor"]);
  assert.equal(signals.length, 1);
  const [signal] = signals;
  // Σ (logp + 0.5) = 0.4 + 0.3 + 0.4 + 0.3 = 1.4
  assert.ok(signal?.kind === "reward" && Math.abs(signal.value - -2.8) < 1e-6);
  assert.deepEqual(signal.about, [{ trajectory: "t" }]);
});

test("anchorDivergence asks nobody where there is nothing", async () => {
  const { ctx, asked } = anchored();
  assert.deepEqual(await anchorDivergence()(ctx, { trajectories: [], units: [] }, {}), []);
  assert.deepEqual(asked, []);
});

test("anchorDivergence: turns may pay apart, each at its price, the last one for all that follow", async () => {
  const t = trajectoryOf("t", [turnOf([1], [2, 3]), turnOf([7], [8]), turnOf([1], [2])]);
  const units = [{ id: "t", group: "g", members: ["t"] }];
  const piece = anchorDivergence({ from: "anchor", coefficient: [2, 1] });
  const signals = await piece(anchored().ctx, { trajectories: [t], units }, {});
  assert.deepEqual(
    signals.map(({ about }) => about[0]!.turn),
    [0, 1, 2],
  );
  // 2 · (0.4 + 0.3), then 0.4 each
  [-1.4, -0.4, -0.4].forEach((want, k) => {
    const signal = signals[k]!;
    assert.ok(signal.kind === "reward" && Math.abs(signal.value - want) < 1e-6);
  });
});

test("anchorDivergence: the coefficient follows the divergence, by a clipped step from one iteration to the next", async () => {
  const t = trajectoryOf("t", [turnOf([1], [2, 3])]);
  const run = { trajectories: [t], units: [{ id: "t", group: "g", members: ["t"] }] };
  for (const [nats, steps] of [
    // KL = 0.4 + 0.3 = 0.7: above 0.35 by more than the clip, e = 0.2
    [0.35, [1, 1.1, 1.21]],
    // e = (0.7 − 1) / 1 = −0.3, clipped to −0.2
    [1, [1, 0.9, 0.81]],
    // e = (0.7 − 0.8) / 0.8 = −0.125
    [0.8, [1, 0.9375, 0.87890625]],
  ] as const) {
    const { ctx } = anchored();
    const piece = anchorDivergence({ coefficient: 1, target: { nats, gain: 0.5 } });
    for (const coefficient of steps) {
      const [signal] = await piece(ctx, run, {});
      assert.ok(signal?.kind === "reward" && Math.abs(signal.value - -0.7 * coefficient) < 1e-6);
    }
  }
  assert.throws(() => anchorDivergence({ coefficient: [1, 2], target: { nats: 1 } }), {
    code: "config.invalid",
  });
});
