import assert from "node:assert/strict";
import { test } from "node:test";
import { ctxOf, trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import { randomStream } from "../../../core/random.ts";
import type { Trajectory } from "../../../core/types.ts";
import { bestRetry } from "./bestRetry.ts";

const attempt = (id: string, outcome: number, parent?: string, success = false): Trajectory =>
  trajectoryOf(id, [turnOf([1], [2, 3], { rewards: { outcome } })], {
    end: { kind: "done", reason: "over", success },
    ...(parent !== undefined && { lineage: { parent, turn: 0, why: "rewrite" } }),
  });

async function kept(trajectories: readonly Trajectory[], group: (id: string) => string = () => "g") {
  let discarded = 0;
  const ctx = ctxOf({
    random: randomStream(1),
    count: (name, n) => {
      if (name === "tokens.discarded") discarded += n;
    },
  });
  const units = trajectories.map(({ id }) => ({ id, group: group(id), members: [id] }));
  const made = await bestRetry(async () => ({ trajectories, units }))(ctx);
  return {
    units: made.units.map(({ id }) => id),
    trajectories: made.trajectories.map(({ id }) => id),
    discarded,
  };
}
const first = [attempt("a", 0), attempt("b", 0.2), attempt("c", 0)];

test("the best retry takes the place of one first attempt, a success before a higher return", async () => {
  const retries = [attempt("a'", 0.9, "a"), attempt("b'", 0.5, "b", true), attempt("c'", 0.1, "c")];
  const { units, trajectories, discarded } = await kept([...first, ...retries]);
  assert.equal(units.length, 3);
  assert.equal(units.at(-1), "b'");
  assert.ok(units.slice(0, 2).every((id) => ["a", "b", "c"].includes(id)));
  assert.deepEqual(trajectories, ["a", "b", "c", "b'"]);
  assert.equal(discarded, 4);
});

test("of equals the first is kept, also where all went wrong; a group without retries stays as it is", async () => {
  const retries = [attempt("a'", 0, "a"), attempt("b'", 0, "b")];
  assert.equal((await kept([...first, ...retries])).units.at(-1), "a'");
  const alone = await kept(first);
  assert.deepEqual([alone.units, alone.discarded], [["a", "b", "c"], 0]);
});

test("what names a parent of another group is no retry of this one", async () => {
  const strange = attempt("x", 1, "elsewhere", true);
  const { units } = await kept([...first, strange], (id) => (id === "x" ? "h" : "g"));
  assert.deepEqual(units, ["a", "b", "c", "x"]);
});
