// Backward passes as plans of kernels, which need no device.
import assert from "node:assert/strict";
import { test } from "node:test";
import { programsOf } from "../../../src/engine/local/gpu/kind.ts";
import type { Architecture } from "../../../src/engine/local/parameters.ts";
import { type Plan, plan } from "../../../src/tensor/wgsl/plan.ts";
import { tinyConfig } from "./support.ts";

const a: Architecture = {
  config: tinyConfig,
  heads: ["value"],
  adapter: { rank: 2, alpha: 4, targets: ["q_proj"] },
};
const wanted = { entropy: true, topk: 2, at: 2, heads: a.heads, hidden: [1] };

test("the backward pass of each output alone can be planned, though it reaches few weights", async () => {
  const options = {
    sharedBytes: 49152,
    tiles: "large",
    precision: "f32",
    packed: false,
    bindings: 8,
  } as const;
  for (const architecture of [a, { config: a.config, heads: a.heads }]) {
    const { scoring } = programsOf<Plan>(architecture, { precision: "f32" }, () => ({
      make: async (inputs, outputs, updates) =>
        plan(inputs, outputs, { ...options, ...(updates && { updates }) }),
      release: async () => {},
    }));
    const { outputs, backward } = await scoring.train({ B: 2, T: 16, A: 6, wanted });
    const names = outputs.map((p) => p.name).filter((name) => !name.endsWith(".ids"));
    assert.ok(names.length > 4, names.join());
    for (const name of names) {
      const { steps } = await backward([name]);
      assert.ok(steps.length > 0, name);
    }
  }
});
