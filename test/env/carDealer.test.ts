import assert from "node:assert/strict";
import { test } from "node:test";
import { randomStream } from "../../src/core/random.ts";
import type { Task } from "../../src/core/types.ts";
import { bestPrice, moveIn, type Temper } from "../../src/env/carDealer/buyers.ts";
import { type CarDealerOptions, carDealer } from "../../src/env/carDealer/carDealer.ts";

/** Somebody who pays 30 for a van. */
async function begun(temper: Temper, options: CarDealerOptions = {}) {
  const task: Task = {
    id: "buyer",
    prompt: [{ role: "user", content: "i am looking for a van" }],
    metadata: { car: "van", limit: 30, temper },
    seed: 1,
  };
  const episode = await carDealer(options).start(task, randomStream(1));
  return async (content: string) => {
    const step = await episode.act({ content, stop: "eos" });
    return { ...step, reply: (await episode.observe()).observation.messages[0]?.content };
  };
}

test("car dealer: words are read as offers, questions and promises, in any sentence", () => {
  assert.deepEqual(moveIn("offer van 34"), { kind: "offer", car: "van", price: 34 });
  assert.deepEqual(moveIn("This Van is yours, not for 40 but for 34!"), {
    kind: "offer",
    car: "van",
    price: 34,
  });
  assert.deepEqual(moveIn("what is your budget?"), { kind: "ask" });
  assert.deepEqual(moveIn("tell warranty"), { kind: "warranty" });
  assert.deepEqual(moveIn("van"), { kind: "unclear" });
  assert.deepEqual(moveIn("constructor 34"), { kind: "unclear" });
});

test("car dealer: a plain buyer says what they pay; the sale pays its share of it", async () => {
  const say = await begun("plain");
  assert.equal((await say("offer van 36")).reply, "too much , i would pay 30");
  const { text, reply } = await say("offer sedan 30");
  assert.deepEqual([text, reply], ["the buyer wants another car", "i want a van"]);
  // 27 of 30 is 0.9, just a success
  assert.deepEqual(await say("offer van 27"), {
    rewards: { outcome: 0.9 },
    text: "the buyer would have paid more",
    end: { kind: "done", reason: "sold for 27", success: true },
    reply: "deal",
  });
});

test("car dealer: a haggler bluffs, and takes no first price, however good", async () => {
  const say = await begun("haggler");
  assert.equal((await say("ask budget")).reply, "i would pay 26");
  assert.equal((await say("offer van 20")).reply, "come down a little and we can talk");
  assert.equal((await say("offer van 31")).reply, "too much , i would pay 26");
  assert.deepEqual((await say("offer van 30")).rewards, { outcome: 1 });
});

test("car dealer: a careful buyer pays more after hearing of the warranty, others do not mind", async () => {
  const say = await begun("careful");
  assert.equal((await say("offer van 33")).reply, "too much , i would pay 30");
  assert.equal((await say("tell warranty")).reply, "that is good to know");
  assert.deepEqual((await say("offer van 33")).rewards, { outcome: 1 });
  assert.equal(bestPrice({ car: "van", limit: 30, temper: "careful" }), 33);
  assert.equal((await (await begun("plain"))("tell warranty")).reply, "i do not mind");
});

test("car dealer: a hasty buyer leaves at the second offer that is no good; questions are free", async () => {
  const say = await begun("hasty");
  for (const words of ["offer van 36", "ask budget"]) assert.equal((await say(words)).end, undefined);
  assert.deepEqual(await say("offer sedan 20"), {
    rewards: { outcome: 0 },
    text: "the buyer lost patience",
    end: { kind: "done", reason: "left", success: false },
    reply: "goodbye",
  });
});

test("car dealer: another buyer is asked with the whole talk, and decides by its first word", async () => {
  const heard: string[] = [];
  const say = await begun("plain", {
    buyer: async (_task, conversation) => {
      heard.push(conversation.map((m) => m.content).join(" / "));
      return heard.length < 2 ? "hmm" : "Deal, gladly.";
    },
  });
  await say("hello");
  assert.deepEqual((await say("the van for 24")).rewards, { outcome: 0.8 }); // 24 of 30
  assert.equal(heard[1], "i am looking for a van / hello / hmm / the van for 24");
});

test("car dealer: talk without a sale is cut off and pays nothing", async () => {
  const say = await begun("plain", { turns: 2 });
  assert.equal(
    (await say("hello")).text,
    "name a car and a price , ask for the budget , or tell of the warranty",
  );
  const { rewards, end } = await say("ask budget");
  assert.deepEqual([rewards, end], [{ outcome: 0 }, { kind: "truncated", limit: "turns", at: 2 }]);
});
