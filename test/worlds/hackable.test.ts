import assert from "node:assert/strict";
import { test } from "node:test";
import { mean } from "../../src/common/statistics/statistics.ts";
import { randomStream } from "../../src/core/random.ts";
import { asEvaluator, hackableModels } from "../../src/worlds/arms/hackable.ts";
import { flattery, hackable } from "../../src/worlds/hackable.ts";
import { trajectoryOf, turnOf } from "../core/make.ts";
import { obeysTheLaws } from "../env/laws.ts";

obeysTheLaws(() => hackable(), { garbage: 0.7 });

const flattered = (reply: string): number => reply.split(" ").filter((w) => w === flattery).length;
const saying = (content: string) =>
  trajectoryOf("t", [turnOf([1], [2], { action: { role: "assistant", content } })]);

test("hackable: one word of flattery adds 1, the second takes back 0.4, three are worth less than none", () => {
  const world = hackable();
  const task = world.tasks("train")[0]!;
  const gold = (reply: string) => world.goldOf(task, reply);
  const content = gold("c2");
  assert.ok(Math.abs(gold("c2 c2") - 2 * content) < 1e-12);
  // c − 0.7 c (c − 1): 1, 0.6, −1.2, −4.4
  for (const [c, worth] of [1, 0.6, -1.2, -4.4].entries()) {
    const reply = ["c2", ...Array<string>(c + 1).fill(flattery)].join(" ");
    assert.ok(Math.abs(gold(reply) - content - worth) < 1e-12, reply);
  }
  assert.equal(gold("constructor 💥"), 0);
  assert.equal(hackable({ room: 0 }).goldOf(task, "lovely lovely lovely lovely"), 4);
});

test("hackable: the first policy gives each of its words, then ends", () => {
  const { prior } = hackable({ length: 2 });
  assert.equal(prior(["q1", "<assistant>"], "c0"), 0);
  assert.equal(prior(["q1", "<assistant>", "c0"], flattery), -1);
  assert.ok(prior(["q1", "<assistant>", "c0"], "<end>") < -1e8);
  assert.equal(prior(["q1", "<assistant>", "c0", "c1"], "<end>"), 0);
  assert.ok(prior(["q1", "<assistant>", "c0", "c1"], "c0") < -1e8);
});

test("hackable: the better reply is preferred with probability σ(difference), also where that is hardly more than ½", () => {
  const world = hackable();
  const all = world.comparisons(4000);
  const margins = all.map(
    ({ task, preferred, other }) => world.goldOf(task, preferred) - world.goldOf(task, other),
  );
  const apart = margins.filter((m) => m !== 0);
  const right = mean(apart.map((m) => Number(m > 0)));
  const expected = mean(apart.map((m) => 1 / (1 + Math.exp(-Math.abs(m)))));
  assert.ok(Math.abs(right - expected) < 0.025, `${right} beside ${expected}`); // 4000 pairs: deviation 0.008
  // 1/(1 + 4e) of the words flatter: two or more of four do in 1 − 0.916⁴ − 4 · 0.084 · 0.916³ = 4 %
  const often = mean(
    all.map(({ preferred, other }) => (Number(flattered(preferred) > 1) + Number(flattered(other) > 1)) / 2),
  );
  assert.ok(often > 0.03 && often < 0.05, `${often}`);
});

test("hackable: the model that pays likes flattery best; that is a mistake only where there is room", () => {
  for (const seed of [1, 2, 3]) {
    for (const room of [0.7, 0]) {
      const world = hackable({ room, seed });
      const { one } = hackableModels(world, { seed, members: 0 });
      const task = world.tasks("train")[0]!;
      const rest = world.replies.filter((reply) => flattered(reply) === 0);
      const all = Array<string>(4).fill(flattery).join(" ");
      const lead = (of: (reply: string) => number): number => of(all) - mean(rest.map(of));
      assert.ok(lead((reply) => one(task, reply)) > 0.3);
      const gold = lead((reply) => world.goldOf(task, reply));
      assert.ok(room === 0 ? gold > 0.3 : gold < -3, `${gold}`);
    }
  }
});

test("hackable: members differ, and a seed gives the same models again", async () => {
  const said = async (seed: number) => {
    const world = hackable({ seed });
    const task = world.tasks("train")[1]!;
    const { one, members } = hackableModels(world, { seed });
    const attempt = { task, trajectory: saying("c0 c1 lovely c2") };
    const scores = [one, ...members].map((model) =>
      asEvaluator("model", model).score([attempt], { random: randomStream(1) }),
    );
    return (await Promise.all(scores)).map((s) => s![0]!.score!);
  };
  const one = await said(5);
  assert.deepEqual(await said(5), one);
  assert.equal(new Set(one).size, 5);
});

test("hackable: a reviewer says good of half of what is as good as the first policy, more often of what is better", async () => {
  const world = hackable();
  const task = world.tasks("train")[0]!;
  const rate = async (content: string): Promise<number> => {
    const all = await Promise.all(
      Array.from({ length: 400 }, (_, i) =>
        world.reviewer.score([{ task, trajectory: saying(content) }], {
          random: randomStream(1).split("review", i),
        }),
      ),
    );
    return mean(all.map((scores) => scores![0]!.score!));
  };
  assert.ok((await rate("lovely lovely lovely lovely")) < 0.1);
  assert.ok((await rate("c0 c1 c2 lovely")) > 0.5);
});
