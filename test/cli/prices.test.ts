import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { openTrafficStore } from "../../src/store/openTrafficStore.ts";
import { served } from "../serve/memory.ts";
import { inProcess } from "./inProcess.ts";

const folder = mkdtempSync(join(tmpdir(), "whetstone-prices-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const store = ["--store", join(folder, "store.sqlite")];
const run = (...args: readonly string[]) => inProcess([...args, ...store]);

test("prices are set, replaced, listed and removed; wrong ones are refused with the right form", async () => {
  assert.match((await run("prices", "list")).out, /No prices yet/);
  assert.equal((await run("prices", "set", "m", "1,2")).code, 0);
  assert.match(
    (await run("prices", "set", "m", "0.25,2")).out,
    /m: \$0\.25 per million tokens read, \$2 written/,
  );
  assert.equal((await run("prices", "set", "other-*", "0,0")).code, 0);
  const listed = (await run("prices", "list", "--json")).out.trim().split("\n");
  assert.deepEqual(
    listed.map((line) => JSON.parse(line)),
    [
      { type: "price", id: "m", input: 0.25, output: 2 },
      { type: "price", id: "other-*", input: 0, output: 0 },
    ],
  );
  for (const wrong of ["1", "1,2,3", "-1,2", "a,b", "1,"]) {
    const refused = await inProcess(["prices", "set", ...store, "--", "m", wrong]);
    assert.equal(refused.code, 2, wrong);
    assert.match(refused.err, /Write for example 0\.25,2/);
  }
  for (const wrong of ["g*t", "**", "*m", ""]) {
    const refused = await run("prices", "set", wrong, "1,2");
    assert.equal(refused.code, 2, wrong);
    assert.match(refused.err, /at most one \*, at its end/);
  }
  assert.match((await run("prices", "remove", "n")).err, /m/);
  assert.equal((await run("prices", "remove", "other-*")).code, 0);
  assert.equal((await run("prices", "remove", "other-*")).code, 2);
});

test("costs: what was recorded, by the prices as they are now", async () => {
  assert.match((await run("costs")).out, /^No calls are recorded\. .*whetstone .*serve records them\.\n$/);
  const production = await openTrafficStore(join(folder, "store.sqlite"));
  const usage = { input: 1000, output: 500 };
  const of = (id: string, model: string, key: string) =>
    ({
      kind: "response",
      response: served({ id, model, usage, at: Date.now(), tags: { "whetstone.key": key } }),
    }) as const;
  await production.write([of("a", "m", "k1"), of("b", "m", "k2"), of("c", "unpriced", "k1")]);
  await production.close();
  const lines = (await run("costs", "--json")).out
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  const each = (1000 * 0.25 + 500 * 2) / 1e6;
  assert.deepEqual(lines, [
    { type: "cost", by: "model", name: "m", calls: 2, input: 2000, output: 1000, usd: 2 * each, unpriced: 0 },
    { type: "cost", by: "model", name: "unpriced", calls: 1, input: 1000, output: 500, usd: 0, unpriced: 1 },
    { type: "total", calls: 3, input: 3000, output: 1500, usd: 2 * each, unpriced: 1 },
  ]);
  const shown = (await run("costs")).out;
  assert.match(shown, /unpriced +1 +1000 +500 +no price +1\n/);
  assert.match(shown, /No price: unpriced\. .*whetstone .*prices set 'unpriced' 0\.25,2/);
  await run("prices", "set", "m", "2.5,20");
  assert.match((await run("costs", "--by", "key")).out, /k1 +2 +2000 +1000 +0\.0125 +1\n/);
  assert.match((await run("costs", "--since", "1s", "--by", "day")).out, /all/);
  await run("prices", "set", "unpriced", "0,0");
  assert.doesNotMatch((await run("costs")).out, /No price|no price/);
});

test("keys: a budget by day, by month or in all", async () => {
  const made = await run("keys", "create", "intern", "--scope", "chat", "--budget", "5/day", "--json");
  assert.deepEqual(JSON.parse(made.out).budget, { usd: 5, per: "day" });
  assert.equal((await run("keys", "create", "b", "--scope", "chat", "--budget", "20")).code, 0);
  assert.match((await run("keys", "list")).out, /intern .*\$5\/day/);
  for (const wrong of ["5/week", "0/day", "five", "-1"]) {
    const refused = await run("keys", "create", "x", "--scope", "chat", `--budget=${wrong}`);
    assert.equal(refused.code, 2, wrong);
    assert.match(refused.err, /5\/day, 100\/month or 20/);
  }
});
