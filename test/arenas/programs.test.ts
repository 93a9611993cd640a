/** The arena "programs": what the language does, that messages and critiques are true, and that reading them is what solves it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { programs } from "../../src/arenas/programs/arena.ts";
import { run, verdict } from "../../src/arenas/programs/language.ts";
import { expert, flawed, guessing } from "../../src/arenas/programs/players.ts";
import { phrasesOf } from "../../src/arenas/programs/tasks.ts";
import { randomStream } from "../../src/core/random.ts";
import { type Message, succeeded, type Task, type Trajectory } from "../../src/core/types.ts";
import type { Player } from "../../src/env/environment.ts";
import { playedBy } from "../env/play.ts";

const world = programs.environment();

const played = (task: Task, player: Player, seed = 1): Promise<Trajectory> =>
  playedBy(world, task, player, randomStream(seed).split(task.id));

const successOf = async (player: Player, split: string): Promise<number> => {
  const all = await Promise.all(world.tasks(split).map((task) => played(task, player)));
  return all.filter(succeeded).length / all.length;
};

test("programs change lists from left to right, and what is none is said in words", () => {
  const cases: readonly (readonly [program: string, list: string])[] = [
    ["most 2", "7 9"],
    ["least 2", "1 3"],
    ["add 2 first 2", "9 3"],
    ["add 1 last 2", "6 10"],
    ["times 3 down", "27 21 15 9 3"],
    ["up flip", "9 7 5 3 1"],
    ["add 3 pairs", "10 4 6 8 12"],
    ["times 3 odds", "21 3 9 15 27"],
    ["up last 0", ""],
  ];
  for (const [program, wanted] of cases) {
    const [result] = run(program, [[7, 1, 3, 5, 9]]);
    assert.deepEqual(result, { list: wanted === "" ? [] : wanted.split(" ").map(Number) });
  }
  const errors = {
    "": "empty program",
    "sort up": "unknown word sort",
    "up 3": "3 is no step",
    "first up": "first needs a number",
    constructor: "unknown word constructor",
  };
  for (const [program, error] of Object.entries(errors)) assert.deepEqual(run(program, [[1]]), [{ error }]);
});

test("a message says what the first failed test gave, what was wanted and how they differ", () => {
  const inputs = [
    [1, 2],
    [4, 3, 5],
    [9, 9, 1],
  ];
  const cases: readonly (readonly [program: string, wanted: string, message: string, passed: number])[] = [
    ["first 2", "last 2", "test 2 gives 4 3 not 3 5 : too low", 1 / 3],
    ["last 1", "last 2", "test 1 gives 2 not 1 2 : too short", 0],
    ["odds", "pairs", "test 1 gives 1 not 2 : too low", 0],
    ["times 9", "times 1", "test 1 gives 9 18 not 1 2 : too high", 0],
    ["flip", "up", "test 1 gives 2 1 not 1 2 : wrong order", 1 / 3],
    ["first 2", "up last 2", "test 2 gives 4 3 not 4 5 : too low", 2 / 3],
    ["up first 2", "first 2", "test 2 gives 3 4 not 4 3 : wrong order", 1 / 3],
    ["first", "first 2", "first needs a number", 0],
    ["pairs", "most 9 pairs", "right", 1],
  ];
  for (const [program, wanted, message, passed] of cases)
    assert.deepEqual(verdict(program, wanted, inputs, 2), { passed, message });
  // third test: not shown
  assert.equal(
    verdict(
      "first 3",
      "first 2",
      [
        [1, 2],
        [3, 4],
        [9, 9, 1],
      ],
      2,
    ).message,
    "the tests shown pass , a hidden test fails",
  );
});

test("no program and no request of one split is in another", () => {
  const of = (split: string, part: (task: Task) => unknown): Set<unknown> =>
    new Set(world.tasks(split).map(part));
  for (const part of [(t: Task) => t.reference, (t: Task) => t.prompt[0]!.content]) {
    const all = world.splits.map((split) => of(split, part));
    const shared = new Set(all.flatMap((own) => [...own]));
    assert.equal(
      shared.size,
      all.reduce((sum, own) => sum + own.size, 0),
    );
  }
  assert.deepEqual(
    world.splits.map((split) => world.tasks(split).length),
    [900, 80, 200],
  );
});

test("the expert solves every task, and not at once; who does not read messages solves fewer", async () => {
  for (const split of world.splits) assert.equal(await successOf(expert, split), 1);
  const first = await Promise.all(world.tasks("test").map((task) => played(task, expert)));
  assert.ok(first.filter(({ turns }) => turns.length === 1).length < 0.4 * first.length);
  assert.ok((await successOf(guessing, "test")) < 0.8);
  const start = await successOf(flawed, "test");
  assert.ok(start > 0.1 && start < 0.5, `${start}`);
});

test("every word that can be said is in the vocabulary", async () => {
  const words = new Set(world.vocabulary!().flatMap((text) => text.split(/\s+/)));
  const silly: Player = (_task, _conversation, random) =>
    Array.from({ length: 4 }, () => [...words][random.below(words.size)]).join(" ");
  for (const player of [expert, flawed, guessing, silly])
    for (const task of world.tasks("test")) {
      const { turns } = await played(task, player);
      const said = turns.flatMap(({ prompt, action }): Message[] => [...prompt, action]);
      for (const { content } of said)
        for (const word of content.split(/\s+/)) assert.ok(words.has(word) || word === "", word);
    }
});

test("true critiques blame what is wrong; an answer's remedy is the right step there", async () => {
  const known = new Set(
    [...world.vocabulary!(), ...world.critiqueVocabulary!()].flatMap((t) => t.split(/\s+/)),
  );
  let blamed = 0;
  for (const task of world.tasks("test")) {
    const trajectory = await played(task, flawed);
    const ask = (right: boolean, detail: "hint" | "answer") =>
      world.critique!(task, trajectory, { right, detail, random: randomStream(task.id) });
    const answer = await ask(true, "answer");
    assert.equal(answer.outcome === "failure", !succeeded(trajectory));
    for (const word of `${answer.text} ${(await ask(false, "answer")).text}`.split(" "))
      assert.ok(known.has(word), word);
    for (const mark of answer.marks ?? []) {
      const step = trajectory.turns[mark.turn]!.action.content.slice(mark.from, mark.to);
      assert.match(step, /^[a-z]+( \d)?$/);
    }
    const place = /^wrong at try (\d) step (\d) : (.+)$/.exec(answer.text);
    if (!place) continue;
    blamed++;
    const [, tried, step, better] = place;
    assert.equal(answer.turn, Number(tried) - 1);
    const request = phrasesOf(task.prompt[0]!.content);
    assert.ok(request[Number(step) - 1]!.meanings.includes(better!));
    assert.ok(task.reference!.includes(better!));
    assert.equal(trajectory.turns[Number(tried) - 1]!.action.content.includes(better!), false);
  }
  assert.ok(blamed > 50);
});

test("tests passed decide what verify says and which of two attempts is preferred", async () => {
  const task = world.tasks("test")[0]!;
  const right = await played(task, expert);
  const wrong = await played(task, () => "flip flip flip sort");
  assert.deepEqual(await world.verify!(task, right), { outcome: 1, passed: 1 });
  assert.deepEqual(await world.verify!(task, wrong), { outcome: 0, passed: 0 });
  assert.equal(await world.prefer!(task, right, wrong), 1);
  assert.equal(await world.prefer!(task, wrong, right), 0);
  assert.equal(await world.prefer!(task, right, right), 0.5);
});
