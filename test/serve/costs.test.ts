import assert from "node:assert/strict";
import { test } from "node:test";
import { periodEnd, periodStart } from "../../src/core/budget.ts";
import type { Version } from "../../src/core/served.ts";
import { priceTable, tokensOf } from "../../src/serve/costs.ts";
import { served } from "./memory.ts";

const upstream = (id: string, model?: string): Version => ({
  id,
  name: id,
  backend: { kind: "upstream", url: "http://a.test/v1", ...(model !== undefined && { model }) },
  created: 0,
});
const versions: readonly Version[] = [
  upstream("any"),
  upstream("mini", "gpt-5-mini"),
  { id: "own", name: "own", backend: { kind: "run", folder: "runs/x" }, created: 0 },
  { id: "order", name: "order", backend: { kind: "firstOf", versions: ["any", "mini", "own"] }, created: 0 },
  { id: "told", name: "told", backend: { kind: "artefact", artefact: "a", over: "mini" }, created: 0 },
];
const prices = [
  { id: "gpt-5*", input: 1, output: 10 },
  { id: "gpt-5-m*", input: 0.5, output: 5 },
  { id: "gpt-5-mini", input: 0.25, output: 2 },
  { id: "gpt-4", input: 30, output: 60, removed: true as const },
];
const table = priceTable(prices, versions);
const usage = { input: 1_000_000, output: 500_000 };
const cost = (version: string, model: string, tags: Record<string, string> = {}): number | undefined =>
  table.costOf(served({ id: "r", version, model, usage, tags }));

test("the price is that of the model asked for, by its whole name, else by the longest beginning", () => {
  assert.equal(cost("any", "gpt-5-mini"), 0.25 + 1);
  assert.equal(cost("any", "gpt-5-mini-2026-01-01"), 0.5 + 2.5);
  assert.equal(cost("any", "gpt-5"), 1 + 5);
  assert.equal(cost("any", "gpt-4"), undefined, "a price that was removed");
  assert.equal(cost("any", "claude"), undefined);
  assert.equal(cost("mini", "whatever the client says"), 1.25);
  assert.equal(cost("told", "x"), 1.25, "an artefact costs what the version under it does");
  assert.equal(cost("gone from the store", "gpt-5"), 6);
});

test("weights of one's own are free; of an order counts who answered, and all have to have a price before", () => {
  assert.equal(cost("own", "gpt-5"), 0);
  assert.equal(cost("order", "gpt-5", { "whetstone.answered": "mini" }), 1.25);
  assert.deepEqual(
    table.of("order", "unknown").map(({ model, price }) => [model, price === undefined]),
    [
      ["unknown", true],
      ["gpt-5-mini", false],
      ["unknown", false],
    ],
  );
});

test("tokens nobody counted are estimated at three characters each; what failed costs nothing", () => {
  const said = served({
    id: "r",
    prompt: [{ role: "user", content: "123456" }],
    choices: [{ message: { role: "assistant", content: "1234" }, stop: "eos" }],
  });
  const { usage: _, ...uncounted } = said;
  assert.deepEqual(tokensOf(uncounted), { input: 2, output: 2 });
  assert.deepEqual(tokensOf({ ...uncounted, status: "failed" }), { input: 0, output: 0 });
  assert.deepEqual(tokensOf({ ...uncounted, usage: { input: 7, output: 8 } }), { input: 7, output: 8 });
});

test("periods are days and months of UTC", () => {
  const at = Date.UTC(2026, 11, 31, 23, 59);
  assert.equal(periodStart({ usd: 1, per: "day" }, at), Date.UTC(2026, 11, 31));
  assert.equal(periodEnd({ usd: 1, per: "day" }, at), Date.UTC(2027, 0, 1));
  assert.equal(periodStart({ usd: 1, per: "month" }, at), Date.UTC(2026, 11, 1));
  assert.equal(periodEnd({ usd: 1, per: "month" }, at), Date.UTC(2027, 0, 1));
  assert.deepEqual(
    [periodStart({ usd: 1, per: "ever" }, at), periodEnd({ usd: 1, per: "ever" }, at)],
    [0, undefined],
  );
});
