/** How long sequences may be where nobody says so. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { plannedContext } from "../../../src/engine/local/contextPlan.ts";
import { activationBytes } from "../../../src/engine/local/packing.ts";
import { tinyConfig } from "./support.ts";

const made = (contextTokens: number) => ({ ...tinyConfig, contextTokens });

test("a model's own limit, at most 4096; where memory is short a power of two that fits, and 256 at the least", () => {
  const ample = 1e15;
  assert.equal(plannedContext(made(128), ample), 128);
  assert.equal(plannedContext(made(2048), ample), 2048);
  assert.equal(plannedContext(made(100_000), ample), 4096);
  assert.equal(plannedContext(made(100_000), 0), 256);
  assert.equal(plannedContext(made(100), 0), 100);
  const enough = 1024 * activationBytes(made(100_000), 1024);
  assert.equal(plannedContext(made(100_000), enough), 1024);
  assert.equal(plannedContext(made(100_000), enough - 1), 512);
});
