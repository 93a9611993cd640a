import assert from "node:assert/strict";
import { test } from "node:test";
import { obeysTheLaws } from "../../../../test/env/laws.ts";
import { randomStream } from "../../../core/random.ts";
import { hiddenTaste, itemsOf, likingOf, tastes, vote } from "./tastes.ts";

obeysTheLaws(() => tastes(), { garbage: 0.6, flawed: [0, 0.5] });

const share = (xs: readonly boolean[]): number => xs.filter(Boolean).length / xs.length;

test("tastes: votes follow the taste, tastes alternate, and what pleases on average does not please both", () => {
  const env = tastes({ users: 4, kinds: 2 });
  const tasks = env.tasks("train");
  assert.deepEqual(tasks.map(hiddenTaste), [-1, 1, -1, 1]);
  assert.equal(likingOf(-1, [0.5, 0.25]), -1); // −3 · ½ + 2 · ¼
  const random = randomStream(1);
  const won = Array.from({ length: 400 }, () => vote(1, [1, 0], [-1, 0], random)[0][0] === 1);
  assert.ok(share(won) > 0.97); // σ(6) = 0.9975
  // what most like on average is right for one of the two tastes at most
  const served = tasks.slice(0, 2).map((task) => {
    const liked = (word: string): number => likingOf(hiddenTaste(task), itemsOf(task)[word]!);
    return liked(env.expert!(task, [], random)) - liked(env.flawed!(task, [], random));
  });
  assert.ok(served.every((less) => less >= 0) && served.some((less) => less > 0.5), String(served));
});
