import assert from "node:assert/strict";
import { test } from "node:test";
import { sigmoid } from "../../src/common/statistics/logistic.ts";
import { randomStream } from "../../src/core/random.ts";
import { type JudgedOptions, judged } from "../../src/worlds/judged.ts";
import { trajectoryOf, turnOf } from "../core/make.ts";
import { obeysTheLaws } from "../env/laws.ts";

obeysTheLaws(() => judged(), { garbage: 0.4 });

const everyAnswer = (options: JudgedOptions) => {
  const world = judged({ questions: 50, answers: 40, ...options });
  return world.tasks("train").flatMap((task) => world.words.map((word) => world.answerOf(task, word)!));
};
const share = <T>(xs: readonly T[], holds: (x: T) => boolean): number => xs.filter(holds).length / xs.length;

test("judged: exactly the share asked for is right, at least one, and others at each question", () => {
  const world = judged({ questions: 3, answers: 20, right: 0.25 });
  const right = world
    .tasks("train")
    .map((task) => world.words.filter((word) => world.answerOf(task, word)!.right));
  for (const words of right) assert.equal(words.length, 5);
  assert.notDeepEqual(right[0], right[1]);
  assert.equal(
    share(everyAnswer({ right: 0 }), (a) => a.right),
    1 / 40,
  );
});

test("judged: tests err as often as asked, in the same way at each attempt", () => {
  assert.equal(
    share(everyAnswer({}), (a) => a.passes !== a.right),
    0,
  );
  const erred = share(everyAnswer({ testError: 0.15 }), (a) => a.passes !== a.right);
  assert.ok(Math.abs(erred - 0.15) < 0.03, `${erred}`); // 2000 answers: deviation 0.008
  assert.deepEqual(everyAnswer({ testError: 0.15 }), everyAnswer({ testError: 0.15 }));
});

test("judged: the logit is the weighted sum of truth, quality and looks", () => {
  const all = everyAnswer({ showy: 0.3, model: { truth: 0.5, quality: 4, showy: 5, noise: 0 } });
  for (const { right, quality, showy, logit } of all) {
    const by = (right ? 0.5 : -0.5) + 4 * (quality - 0.5) + (showy && !right ? 5 : 0);
    assert.ok(Math.abs(logit - by) < 1e-12);
  }
  const looks = share(all, (a) => a.showy);
  assert.ok(Math.abs(looks - 0.3) < 0.04, `${looks}`);
});

test("judged: the reward model gives σ(logit), and nothing for a text that is no answer", async () => {
  const world = judged();
  const task = world.tasks("train")[0]!;
  const said = (content: string) =>
    world.rewardModel.score(
      [
        {
          task,
          trajectory: trajectoryOf("t", [turnOf([1], [2], { action: { role: "assistant", content } })]),
        },
      ],
      { random: randomStream(1) },
    );
  assert.deepEqual(await said("a3"), [{ score: sigmoid(world.answerOf(task, "a3")!.logit) }]);
  assert.equal(await said("constructor"), undefined);
});
