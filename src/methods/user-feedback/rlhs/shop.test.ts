import assert from "node:assert/strict";
import { test } from "node:test";
import { ctxOf, trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import { obeysTheLaws } from "../../../../test/env/laws.ts";
import { randomStream } from "../../../core/random.ts";
import { beliefAfter, bought, buyingChance, shop, shopReplies, shopWorld, worthOf } from "./shop.ts";

obeysTheLaws(() => shop(), { garbage: 0.4 });

const env = shop({ customers: 2000 });
const tasks = env.tasks("train");
const [useful, useless] = [tasks[0]!, tasks[1]!];

test("shop: what is seen, believed and bought is worked by hand", () => {
  assert.equal(useful.prompt[0]!.content, "is the coat waterproof ? it is");
  assert.equal(useless.prompt[0]!.content, "is the coat waterproof ? it is not");
  assert.deepEqual(shopReplies.map(beliefAfter), [1, 0, 0.5]);
  // σ(8 · 0.6) = 1 / (1 + e^−4.8), σ(8 · −0.4), σ(8 · 0.1)
  const want = { yes: 0.991837, no: 0.039166, perhaps: 0.689974, nonsense: 0 };
  for (const [reply, chance] of Object.entries(want))
    assert.ok(Math.abs(buyingChance(useless, reply) - chance) < 1e-6, reply);
  assert.equal(worthOf(useful), 0.6);
  assert.equal(worthOf(useless), -0.4);
  const buyers = tasks.filter((task) => bought(task, "perhaps")).length / tasks.length;
  assert.ok(Math.abs(buyers - 0.69) < 0.04, `${buyers}`); // standard error 0.0103
});

test("shop: the rating is paid for beliefs, the outcome for what is so", async () => {
  const buyer = tasks.find((task) => worthOf(task) < 0 && bought(task, "yes") && !bought(task, "no"))!;
  const paid = async (content: string) => {
    const { rewards, end } = await (await env.start(buyer, randomStream(1))).act({ content, stop: "eos" });
    return { ...rewards, success: end?.kind === "done" && end.success };
  };
  assert.deepEqual(await paid("yes"), { rating: 0.7, outcome: -0.4, success: false }); // 1 − 0.4 + 0.1
  assert.deepEqual(await paid("no"), { rating: 0.1, outcome: 0, success: true });
  assert.deepEqual(await paid("yes yes"), { rating: 0, outcome: 0, success: false });
});

test("shop: the world goes by the article and never by what was said of it", async () => {
  const share = async (right: number, reply: string): Promise<number> => {
    const world = shopWorld(right);
    const ctx = ctxOf({ task: () => useless });
    let found = 0;
    for (let i = 0; i < 1000; i++) {
      const said = turnOf([1], [2], { action: { role: "assistant", content: reply } });
      const came = await world(ctx, trajectoryOf("t", [said]), randomStream(i));
      assert.equal(came?.taken, bought(useless, reply) ? "buy" : "leave");
      found += came?.utilities.buy?.[1] ?? Number.NaN;
    }
    return found / 1000;
  };
  for (const reply of ["yes", "no"]) {
    assert.equal(await share(1, reply), 0);
    assert.ok(Math.abs((await share(0.8, reply)) - 0.2) < 0.05); // standard error 0.0126
    assert.ok(Math.abs((await share(0.5, reply)) - 0.5) < 0.06); // 0.0158
  }
});
