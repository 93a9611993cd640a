// What worlds whose users speak, prefer and correct promise beyond the laws of every environment.
import assert from "node:assert/strict";
import { test } from "node:test";
import { randomStream } from "../../src/core/random.ts";
import { chores, wasShown } from "../../src/env/chores.ts";
import type { Environment } from "../../src/env/environment.ts";
import { feed, receptionOf } from "../../src/env/feed.ts";
import { followUps, satisfied } from "../../src/env/followUps.ts";
import { hiddenTaste, itemsOf, likingOf, tastes, vote } from "../../src/env/tastes.ts";
import { play } from "./play.ts";

const share = (xs: readonly boolean[]): number => xs.filter(Boolean).length / xs.length;

test("follow-ups: satisfied words follow right answers at the rate asked for, and wrong ones at the rest", async () => {
  const env = followUps({ fitting: 0.8 });
  const pleased = async (answer: (right: string) => string): Promise<number> => {
    const said = env.tasks("train").flatMap((task) =>
      Array.from({ length: 16 }, async (_, i) => {
        const { texts } = await play(env, task, () => answer(task.reference!), randomStream(i));
        return satisfied.some((words) => words === texts[0]);
      }),
    );
    return share(await Promise.all(said));
  };
  // 400 each, deviation 0.02
  assert.ok(Math.abs((await pleased((right) => right)) - 0.8) < 0.08);
  assert.ok(Math.abs((await pleased((right) => (right === "a0" ? "a1" : "a0"))) - 0.2) < 0.08);
});

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

test("feed: what is watched longest is hardly liked, and some clip is liked everywhere", () => {
  for (const task of feed({ situations: 20 }).tasks("train")) {
    const receptions = receptionOf(task);
    const longest = receptions.reduce((a, b) => (b.watch > a.watch ? b : a));
    assert.equal(longest.like, 0.01);
    assert.ok(receptions.some(({ like }) => like >= 0.05));
    assert.ok(receptions.every(({ like }) => like >= 0.01 && like <= 0.1));
  }
});

test("chores: only wrong commands are corrected, with the right one, as often as asked for", async () => {
  const env = chores({ corrected: 0.2 });
  const wrong = async (of: Environment): Promise<readonly string[]> => {
    const all = await Promise.all(of.tasks("train").map((task) => play(of, task, () => "none")));
    return all.flatMap(({ texts }) => texts);
  };
  // 120 tasks of 3 steps: 72 of 360, deviation 7.6
  const said = await wrong(env);
  assert.ok(Math.abs(said.length - 72) < 31, String(said.length));
  assert.ok(said.every((text) => env.rights.includes(text)));
  assert.deepEqual(await wrong(chores({ corrected: 0 })), []);
  const [task] = env.tasks("train");
  assert.deepEqual((await play(env, task!, env.expert!)).texts, []);
  const situations = (shown: boolean): Set<number> =>
    new Set(
      env
        .tasks("train")
        .filter((t) => wasShown(t) === shown)
        .flatMap((t) => t.metadata.situations as number[]),
    );
  const unseen = situations(false);
  assert.ok([...situations(true)].every((s) => !unseen.has(s)));
});
