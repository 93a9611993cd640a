import assert from "node:assert/strict";
import { test } from "node:test";
import { ctxOf, trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import { randomStream } from "../../../core/random.ts";
import { profilingRejection } from "./profilingRejection.ts";

test("profilingRejection keeps by coverage, and always what was not measured", async () => {
  const turns = [
    {},
    { coverage: 0 },
    { coverage: 0.3 },
    { coverage: 0.4 },
    { coverage: 1 },
    { coverage: 0.35 },
  ];
  const n = 1000;
  const trajectories = Array.from({ length: n }, (_, i) =>
    trajectoryOf(
      `${i}`,
      turns.map((rewards) => turnOf([1], [2], { rewards })),
    ),
  );
  const ctx = ctxOf({ random: randomStream(1) });
  const { kept } = await profilingRejection()(ctx, { trajectories, units: [] });
  const shares = turns.map((_, k) => trajectories.reduce((sum, t) => sum + kept!.get(t.id)![k]!, 0) / n);
  assert.deepEqual(shares.slice(0, 5), [1, 0, 0, 1, 1]);
  // half of those between; standard error 0.016
  assert.ok(Math.abs(shares[5]! - 0.5) < 0.07, `${shares[5]}`);
});
