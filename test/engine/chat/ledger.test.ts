import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { budget } from "../../../src/engine/chat/budget.ts";
import { openLedger } from "../../../src/engine/chat/ledger.ts";
import { withCode } from "../../train/world.ts";

const folder = mkdtempSync(join(tmpdir(), "whetstone-ledger-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const price = { input: 1000, output: 2000 };
const most = { input: 100, output: 50 };

test("what a process spent stands before the next one, and a call that was cut off counts with the most it may have cost", async () => {
  const file = join(folder, "spent.jsonl");
  const first = budget({}, openLedger(file));
  const call = await first.reserve(most, price);
  call.paid({ input: 10, output: 5 });
  call.end();
  await first.reserve(most, price); // and here it is killed
  first.cached();

  const next = budget({ calls: 3 }, openLedger(file));
  // 10 tokens at 1000 and 5 at 2000 dollars a million are 0.02; 100 and 50 are 0.2
  const { usd, ...counts } = next.spent();
  assert.deepEqual(counts, { calls: 2, cachedCalls: 0, inputTokens: 110, outputTokens: 55 });
  assert.ok(Math.abs(usd - 0.22) < 1e-12, `${usd}`);
  (await next.reserve(most, price)).end(); // never answered
  const free = await next.reserve(most, price);
  free.paid({ input: 0, output: 0 });
  free.end();
  await assert.rejects(next.reserve(most, price), withCode("budget.spent", /3 calls of 3/));
});

test("a line that is damaged is named, and a ledger that cannot be written keeps the call from being made", async () => {
  const damaged = join(folder, "damaged.jsonl");
  writeFileSync(damaged, '{"calls":1,"inputTokens":1,"outputTokens":1,"usd":0}\n{"calls":');
  assert.throws(() => openLedger(damaged), withCode("checkpoint.damaged", /damaged\.jsonl/));
  const nowhere = budget({}, openLedger(join(folder, "no-such-folder", "spent.jsonl")));
  await assert.rejects(nowhere.reserve(most, price), withCode("disk.write", /no-such-folder/));
  assert.equal(nowhere.spent().calls, 0);
});
