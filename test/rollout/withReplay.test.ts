import assert from "node:assert/strict";
import { test } from "node:test";
import type { Json } from "../../src/core/json.ts";
import { randomStream } from "../../src/core/random.ts";
import type { Rollout } from "../../src/core/slots.ts";
import { succeeded } from "../../src/core/types.ts";
import { type Joining, type WithReplayOptions, withReplay } from "../../src/rollout/withReplay.ts";
import { ctxOf, trajectoryOf, turnOf } from "../core/make.ts";

/** Successes of the one task's attempts, by iteration. @returns what each iteration's group came to. */
async function after(
  visits: readonly (readonly boolean[])[],
  options: Partial<WithReplayOptions> = {},
  seed = 1,
) {
  const kept = new Map<string, Json>();
  const out = [];
  for (const [iteration, attempts] of visits.entries()) {
    const rollout: Rollout = async () => {
      const trajectories = attempts.map((success, i) =>
        trajectoryOf(`${iteration}/${i}`, [turnOf([1], [2, 3])], {
          end: { kind: "done", reason: "over", success },
        }),
      );
      return { trajectories, units: trajectories.map(({ id }) => ({ id, group: "task", members: [id] })) };
    };
    const ctx = ctxOf({
      clock: { iteration, phase: "train", step: 0 },
      random: randomStream(seed).split(iteration),
      // as a checkpoint keeps it: as text
      memory: {
        get: (key) => JSON.parse(JSON.stringify(kept.get(key) ?? null)),
        set: (key, value) => void kept.set(key, value),
      },
    });
    const made = await withReplay(rollout, {
      keeps: succeeded,
      joins: (group) => (group.some(succeeded) ? undefined : adding),
      ...options,
    })(ctx);
    out.push(made);
  }
  return out;
}
const adding: Joining = { outcome: "success", count: 1, replaces: false };
const [yes, no] = [true, false];
const ids = ({ units }: Awaited<ReturnType<typeof after>>[number]) => units.map(({ id }) => id);

test("a group that fails gets a stored success, once there is one; others stay as they are", async () => {
  const made = await after([
    [no, no],
    [no, yes],
    [no, no],
    [yes, no],
  ]);
  assert.deepEqual(made.map(ids), [
    ["0/0", "0/1"],
    ["1/0", "1/1"],
    ["2/0", "2/1", "2/replayed/0/1/1"],
    ["3/0", "3/1"],
  ]);
  assert.deepEqual(
    made.map(({ stats }) => stats?.replayed),
    [0, 0, 1, 0],
  );
  const [again] = made[2]!.trajectories.slice(-1);
  assert.equal(again!.origin, "replayed");
  assert.ok(succeeded(again!));
  // its tokens and old log-probabilities, bit for bit
  assert.deepEqual(again!.turns[0]!.tokens, turnOf([1], [2, 3]).tokens);
});

test("what joins may take the first attempts' places; they stay among the trajectories, in no unit", async () => {
  const made = await after(
    [
      [yes, yes],
      [no, no, no],
    ],
    {
      joins: (group) =>
        group.some(succeeded) ? undefined : { outcome: "success", count: 2, replaces: true },
    },
  );
  const [, second] = made;
  assert.equal(second!.units.length, 3);
  assert.equal(second!.units[0]!.id, "1/2");
  assert.equal(new Set(ids(second!)).size, 3);
  assert.equal(second!.trajectories.length, 5);
});

test("a replayed attempt is not stored again: with room for one, the newest own success is what comes back", async () => {
  const made = await after([[yes], [no], [no], [yes], [no]], { capacity: 1 });
  assert.deepEqual(
    made.map((m) => ids(m).at(-1)),
    ["0/0", "1/replayed/0/0/0", "2/replayed/0/0/0", "3/0", "4/replayed/0/3/0"],
  );
});

test("staleness: after two iterations an attempt no longer joins", async () => {
  const made = await after([[yes], [no], [no], [no]], { staleness: 2 });
  assert.deepEqual(
    made.map((m) => ids(m).length),
    [1, 2, 2, 1],
  );
});

test("scored: the behaviour is unknown, so that it is scored by the current policy", async () => {
  const made = await after([[yes], [no]], { logp: "scored" });
  const tokens = made[1]!.trajectories.at(-1)!.turns[0]!.tokens!;
  assert.ok(tokens.behaviour.every(Number.isNaN));
  assert.deepEqual(tokens.logp, turnOf([1], [2, 3]).tokens!.logp);
});

test("failures are stored apart from successes", async () => {
  const made = await after([[no], [yes]], {
    keeps: () => true,
    joins: (group) => (group.every(succeeded) ? { ...adding, outcome: "failure" } : undefined),
  });
  assert.deepEqual(ids(made[1]!), ["1/0", "1/replayed/0/0/0"]);
});

test("priorities: attempts join in proportion to them, and one of 0 never does", async () => {
  const shares = [0, 0, 0];
  for (let seed = 0; seed < 300; seed++) {
    const made = await after(
      [[yes], [yes], [yes], [no]],
      { priority: ({ id }, age) => (id === "1/0" ? 0 : age === 3 ? 1 : 3) },
      seed,
    );
    const [iteration] = ids(made[3]!).at(-1)!.split("/").slice(-2);
    shares[Number(iteration)]!++;
  }
  // 1 of the oldest to 3 of the newest
  assert.equal(shares[1], 0);
  assert.ok(Math.abs(shares[2]! - 225) < 30, String(shares));
});

test("priorities: of several that join, none does twice, and fewer join where the others weigh nothing", async () => {
  const made = await after([[yes, yes, yes], [no]], {
    joins: (group) => (group.some(succeeded) ? undefined : { ...adding, count: 3 }),
    priority: ({ id }) => Number(id !== "0/1"),
  });
  assert.deepEqual(ids(made[1]!).slice(1).toSorted(), ["1/replayed/0/0/0", "1/replayed/1/0/2"].toSorted());
});
