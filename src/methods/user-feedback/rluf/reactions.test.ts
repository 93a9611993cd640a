import assert from "node:assert/strict";
import { test } from "node:test";
import { obeysTheLaws } from "../../../../test/env/laws.ts";
import { randomStream } from "../../../core/random.ts";
import { loveOf, reactions, styledReplies, styleOf, utilityOf } from "./reactions.ts";

obeysTheLaws(() => reactions(), { garbage: 0.05, flawed: [0, 0] });

const rewardsOf = async (reply: string, seed = 1) => {
  const env = reactions();
  const [task] = env.tasks("train");
  const episode = await env.start(task!, randomStream(seed));
  await episode.observe();
  return (await episode.act({ content: reply, stop: "eos" })).rewards!;
};

test("reactions: what a reply pays is worked by hand", async () => {
  // right 2, clear 1, sweet 3: the judge says 2 − 0.9, the user gets 3 − 2.25 = 0.75 of −2.25 … 6
  const { helpfulness, outcome } = await rewardsOf("right2 clear1 sweet3");
  assert.ok(Math.abs(helpfulness! - 1.1) < 1e-12);
  assert.ok(Math.abs(outcome! - 3 / 8.25) < 1e-12);
  assert.equal((await rewardsOf("right3 clear3 sweet0")).outcome, 1);
  assert.equal((await rewardsOf("sweet3 right3 clear3")).outcome, 0, "what is no reply is the worst one");
});

test("reactions: hearts come as often as they should", async () => {
  const style = styleOf("right3 clear1 sweet1")!;
  assert.equal(loveOf(style), 0.5); // σ(5 − 5)
  const hearts = await Promise.all(
    Array.from({ length: 400 }, async (_, seed) => (await rewardsOf("right3 clear1 sweet1", seed)).love!),
  );
  const rate = hearts.reduce((a, b) => a + b, 0) / 400;
  assert.ok(Math.abs(rate - 0.5) < 0.1, String(rate)); // four deviations of 0.025
});

test("reactions: the most loved reply is not the best one", () => {
  const most = (value: (reply: string) => number): string =>
    styledReplies.reduce((best, reply) => (value(reply) > value(best) ? reply : best));
  assert.equal(
    most((reply) => loveOf(styleOf(reply)!)),
    "right3 clear3 sweet3",
  );
  assert.equal(
    most((reply) => utilityOf(styleOf(reply)!)),
    "right3 clear3 sweet0",
  );
});
