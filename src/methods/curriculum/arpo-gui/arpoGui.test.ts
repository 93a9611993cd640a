import assert from "node:assert/strict";
import { test } from "node:test";
import { ctxOf, trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import { randomStream } from "../../../core/random.ts";
import type { Task } from "../../../core/types.ts";
import { uniform } from "../../../data/uniform.ts";
import { isWorthKeeping, reviving } from "./reviving.ts";
import { solvable } from "./solvable.ts";

const earning = (...rewards: readonly number[]) =>
  rewards.map((outcome, i) => trajectoryOf(`${i}`, [turnOf([1], [2], { rewards: { outcome } })]));

test("reviving: a success replaces the first attempt where all fail alike, and nowhere else", () => {
  const joining = { outcome: "success", count: 1, replaces: true };
  assert.deepEqual(reviving(earning(0, 0, 0, 0)), joining);
  assert.deepEqual(reviving(earning(0.1, 0.1, 0.1)), joining);
  assert.deepEqual(reviving(earning(0.04, 0, 0.04, 0)), joining); // deviation 0.02
  assert.equal(reviving(earning(0.2, 0.2, 0.2)), undefined); // a mean of 0.2 is not below it
  assert.equal(reviving(earning(1, 0, 0, 0, 0, 0, 0, 0)), undefined);
  assert.equal(reviving(earning(1, 1)), undefined);
});

test("isWorthKeeping: more than 0.1", () => {
  assert.deepEqual(earning(0, 0.1, 0.2, 1).map(isWorthKeeping), [false, false, true, true]);
});

const tasks = ["a", "b", "c"].map((id): Task => ({ id, prompt: [], metadata: {}, seed: 1 }));

/** Chooses twice; a task succeeds at the attempts that are listed. */
async function chosenTwice(wins: Readonly<Record<string, readonly number[]>>, attempts: number) {
  const played: string[] = [];
  const data = solvable(uniform({ tasks: 3 }), { attempts });
  const ctx = () =>
    ctxOf({
      random: randomStream(1),
      play: async ({ task, attempt }) => {
        played.push(`${task}`);
        const success = wins[task as string]?.includes(attempt - 1_000_000) ?? false;
        return [trajectoryOf(`${task}/${attempt}`, [], { end: { kind: "done", reason: "over", success } })];
      },
    });
  const first = await data.choose(ctx(), tasks, data.init(tasks));
  const second = await data.choose(ctx(), tasks, JSON.parse(JSON.stringify(first.next)));
  const idsOf = (chosen: typeof first) => chosen.tasks.map(({ id }) => id).sort();
  return { first: idsOf(first), second: idsOf(second), played: played.length };
}

test("solvable: tasks without a success in the probe are never chosen, and the probe is made once", async () => {
  const made = await chosenTwice({ a: [3], c: [0, 1] }, 4);
  assert.deepEqual(made, { first: ["a", "c"], second: ["a", "c"], played: 12 });
});

test("solvable: all are kept where none is solved, or without a probe", async () => {
  assert.deepEqual((await chosenTwice({}, 2)).first, ["a", "b", "c"]);
  assert.deepEqual(await chosenTwice({}, 0), { first: ["a", "b", "c"], second: ["a", "b", "c"], played: 0 });
});
