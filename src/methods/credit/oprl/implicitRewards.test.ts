import assert from "node:assert/strict";
import { test } from "node:test";
import { ctxOf, trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import { pairRows } from "../../../common/tokens/pack.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { implicitRewards } from "./implicitRewards.ts";

const prm = await tabularEngine().create({ id: "prm", seed: 1, vocabulary: ["a b c"], contextTokens: 16 });
const [a, b, c] = prm.codec.encode("a b c");
const ctx = ctxOf({ model: () => prm });

test("implicitRewards: β times the summed log-ratio of each turn's tokens, for turns apart", async () => {
  // a fresh table is uniform over a, b, c and the end: ln p = −ln 4. turnOf says −0.1, −0.2 for the sampler
  const t = trajectoryOf("t", [turnOf([a!], [b!, c!]), turnOf([a!, b!, c!, a!], [b!])]);
  const signals = await implicitRewards({ beta: 0.5 })(ctx, { trajectories: [t], units: [] }, {});
  const values = signals.map((s) => (s.kind === "reward" ? s.value : Number.NaN));
  assert.deepEqual(
    signals.map((s) => s.about[0]),
    [
      { trajectory: "t", turn: 0 },
      { trajectory: "t", turn: 1 },
    ],
  );
  assert.ok(Math.abs(values[0]! - 0.5 * (-2 * Math.log(4) + 0.3)) < 1e-6);
  assert.ok(Math.abs(values[1]! - 0.5 * (-Math.log(4) + 0.1)) < 1e-6);
});

test("implicitRewards: a model that agrees with the sampler implies zeros", async () => {
  const { logp } = await prm.score(pairRows([{ prompt: Int32Array.of(a!), target: Int32Array.of(b!, c!) }]));
  const tokens = { prompt: Int32Array.of(a!), action: Int32Array.of(b!, c!), logp, behaviour: logp };
  const t = trajectoryOf("t", [turnOf([a!], [b!, c!], { tokens })]);
  const [signal] = await implicitRewards()(ctx, { trajectories: [t], units: [] }, {});
  assert.ok(signal?.kind === "reward" && Math.abs(signal.value) < 1e-7);
});

test("implicitRewards: unknown log-probabilities and failed episodes get none", async () => {
  const unknown = Float32Array.of(Number.NaN);
  const tokens = { prompt: Int32Array.of(a!), action: Int32Array.of(b!), logp: unknown, behaviour: unknown };
  const failed = { kind: "failed", boundary: "environment", message: "down" } as const;
  const trajectories = [
    trajectoryOf("scripted", [turnOf([a!], [b!], { tokens })]),
    trajectoryOf("failed", [turnOf([a!], [b!])], { end: failed }),
  ];
  assert.deepEqual(await implicitRewards()(ctx, { trajectories, units: [] }, {}), []);
  assert.deepEqual(await implicitRewards()(ctx, { trajectories: [], units: [] }, {}), []);
});
