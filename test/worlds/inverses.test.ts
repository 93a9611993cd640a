import assert from "node:assert/strict";
import { test } from "node:test";
import { randomStream } from "../../src/core/random.ts";
import { type InversesOptions, inverseOf, inverses } from "../../src/worlds/inverses.ts";
import { obeysTheLaws } from "../env/laws.ts";
import { play, trajectoryOf } from "../env/play.ts";

obeysTheLaws(() => inverses(), { garbage: 0.2, flawed: [0.68, 0.8] });

/** What both answers of every training task were paid. */
async function paid(options: InversesOptions, first: (right: string) => string, second = first) {
  const environment = inverses(options);
  return Promise.all(
    environment.tasks("train").map(async (task) => {
      const right = `${inverseOf(task)}`;
      const episode = await environment.start(task, randomStream(1));
      const one = await episode.act({ content: first(right), stop: "eos" });
      const two = await episode.act({ content: second(right), stop: "eos" });
      return [one.rewards?.outcome, two.rewards?.outcome] as const;
    }),
  );
}

const share = (pairs: readonly (readonly (number | undefined)[])[], k: number): number =>
  pairs.reduce((sum, pair) => sum + pair[k]!, 0) / pairs.length;

test("inverses: 3 · 4 = 12 = 1 modulo 11; every product of a number and its inverse leaves 1", () => {
  const tasks = inverses({ each: 1 }).tasks("train");
  assert.equal(inverseOf(tasks[2]!), 4);
  for (const task of tasks) assert.equal((Number(task.metadata.asked) * inverseOf(task)) % 11, 1);
});

test("inverses: what was read is shown, not what was said", async () => {
  const environment = inverses({ slip: 1, each: 1 });
  const task = environment.tasks("train")[2]!;
  const { conversation } = await play(environment, task, () => "4");
  const shown = conversation[2]!.content;
  assert.match(shown, /^3 times \d+ : revise$/);
  const elsewhere = await play(environment, task, () => "9");
  assert.equal(elsewhere.conversation[2]!.content, shown);
  const clear = await play(inverses({ slip: 0, each: 1 }), task, () => "nonsense");
  assert.equal(clear.conversation[2]!.content, "3 times nothing : revise");
});

test("inverses: right first answers are read rightly in 1 − slip + slip / 10 of the tasks", async () => {
  const pairs = await paid({ each: 200 }, (right) => right);
  // 0.73, with a deviation of √(0.73 · 0.27 / 2000) = 0.01
  assert.ok(Math.abs(share(pairs, 0) - 0.73) < 0.03);
  assert.equal(share(pairs, 1), 1);
});

test("inverses: where mistakes may be lost, half of them are, and right first answers never", async () => {
  const wrong = await paid(
    { slip: 0, lost: 0.5, each: 200 },
    () => "0",
    (right) => right,
  );
  assert.equal(share(wrong, 0), 0);
  assert.ok(Math.abs(share(wrong, 1) - 0.5) < 0.04); // deviation √(0.25 / 2000) = 0.011
  assert.equal(share(await paid({ slip: 0, lost: 1, each: 1 }, (right) => right), 1), 1);
});

test("inverses: the luck of an episode differs from one to the next, and its outcome is what was paid", async () => {
  const environment = inverses({ luck: "episode", each: 1 });
  assert.ok(!environment.abilities.has("replay"));
  const task = environment.tasks("train")[2]!;
  const shown = new Set<string>();
  for (let k = 0; k < 40; k++) {
    const { conversation, actions, end, outcome } = await play(environment, task, () => "4", randomStream(k));
    shown.add(conversation[2]!.content);
    assert.equal(outcome, 1);
    assert.deepEqual(await environment.verify!(task, trajectoryOf(task, actions, end, outcome)), { outcome });
  }
  assert.ok(shown.has("3 times 4 : revise") && shown.size > 3);
});

test("inverses: a critique names the first answer that was wrong, and the right one", async () => {
  const environment = inverses({ slip: 0, each: 1 });
  const task = environment.tasks("train")[2]!; // 3, whose inverse modulo 11 is 4
  const said = (answers: readonly string[], success: boolean) =>
    environment.critique!(
      task,
      trajectoryOf(task, answers, { kind: "done", reason: "", success }, success ? 1 : 0),
      { right: true, detail: "answer", random: randomStream(1) },
    );
  assert.equal((await said(["9", "9"], false)).text, "wrong at step 1 : 4");
  const second = await said(["4", "9"], false);
  assert.deepEqual([second.text, second.turn], ["wrong at step 2 : 4", 1]);
  assert.equal((await said(["9", "4"], true)).text, "right");
});
