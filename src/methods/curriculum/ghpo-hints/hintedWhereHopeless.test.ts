import assert from "node:assert/strict";
import { test } from "node:test";
import { ctxOf, trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import type { Ctx, Play } from "../../../core/context.ts";
import type { Counter } from "../../../core/counter.ts";
import type { Task, Trajectory } from "../../../core/types.ts";
import { hintedWhereHopeless, hintOf } from "./hintedWhereHopeless.ts";

const task = (id: string, reference?: string): Task => ({
  id,
  prompt: [],
  metadata: {},
  seed: 1,
  ...(reference !== undefined && { reference }),
});

test("hintOf: shares of the words, rounded half up; never none and never all", () => {
  const five = task("t", "a b c d e"); // 1.25, 2.5, 3.75
  assert.deepEqual(
    [0.25, 0.5, 0.75].map((share) => hintOf(five, share)),
    ["hint a", "hint a b c", "hint a b c d"],
  );
  assert.equal(hintOf(task("t", "a b"), 0.75), undefined); // 1.5 → 2, all of it
  assert.equal(hintOf(task("t", "a"), 0.25), undefined);
  assert.equal(hintOf(task("t"), 0.5), undefined);
});

/** Attempts at a task succeed once a hint has this many words; never without a limit. */
function playing(needs: Readonly<Record<string, number>>, tasks: readonly Task[], iteration = 0) {
  const plays: Play[] = [];
  const counts: Partial<Record<Counter, number>> = {};
  const ctx = ctxOf({
    tasks,
    clock: { iteration, phase: "train", step: 0 },
    count: (counter, amount) => {
      counts[counter] = (counts[counter] ?? 0) + amount;
    },
    play: async (play): Promise<readonly Trajectory[]> => {
      plays.push(play);
      const shown = typeof play.advice === "string" ? play.advice.split(" ").length - 1 : 0;
      const id = play.task as string;
      const success = shown >= needs[id]! && play.attempt % 2 === 0;
      return [
        trajectoryOf(`${id}/${play.attempt}`, [turnOf([1], [2, 3])], {
          task: id,
          end: { kind: "done", reason: "over", success },
        }),
      ];
    },
  } satisfies Partial<Ctx>);
  return { ctx, plays, counts };
}

test("a group with a success stays; a hopeless one is made again with longer hints until one succeeds", async () => {
  const tasks = [task("easy", "a b c d"), task("hard", "a b c d"), task("hopeless", "a b c d"), task("bare")];
  const { ctx, plays, counts } = playing({ easy: 0, hard: 2, hopeless: 9, bare: 9 }, tasks);
  const { units, trajectories, stats } = await hintedWhereHopeless({ groupSize: 2 })(ctx);
  const advice = (id: string) => [...new Set(plays.filter((p) => p.task === id).map((p) => p.advice))];
  assert.deepEqual(advice("easy"), [undefined]);
  assert.deepEqual(advice("hard"), [undefined, "hint a", "hint a b"]);
  assert.deepEqual(advice("hopeless"), [undefined, "hint a", "hint a b", "hint a b c"]);
  assert.deepEqual(advice("bare"), [undefined]);
  // the last group of each task alone is trained on, and every group has attempts of its own
  assert.deepEqual(
    units.map(({ id }) => id),
    ["easy/0", "easy/1", "hard/4", "hard/5", "hopeless/6", "hopeless/7", "bare/0", "bare/1"],
  );
  assert.equal(new Set(trajectories.map(({ id }) => id)).size, plays.length);
  // two groups of hard and three of hopeless were for nothing: 10 attempts of two tokens
  assert.equal(counts["tokens.discarded"], 20);
  // hints (½ + ¾) / 4; one of eight unaided attempts succeeds, whatever hints do
  assert.deepEqual(stats, { hinted: 0.5, hint: 1.25 / 4, unaided: 1 / 8 });
});

test("the first iterations may go without hints", async () => {
  const attemptsAt = async (iteration: number): Promise<number> => {
    const { ctx, plays } = playing({ hard: 1 }, [task("hard", "a b c d")], iteration);
    await hintedWhereHopeless({ groupSize: 2, plainFor: 3 })(ctx);
    return plays.length;
  };
  assert.equal(await attemptsAt(2), 2);
  assert.equal(await attemptsAt(3), 4);
});
