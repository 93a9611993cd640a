import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { ctxOf, trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import { signalValue } from "../../../core/signal.ts";
import type { Message, Task } from "../../../core/types.ts";
import { assigned, transported } from "./assignment.ts";
import { type ToolMatchingOptions, toolMatching } from "./toolMatching.ts";

const task: Task = {
  id: "task",
  prompt: [],
  metadata: {
    calls: [
      { name: "find", arguments: { city: "lima", year: 2020 } },
      { name: "sum", arguments: { x: "1" } },
    ],
  },
  seed: 0,
};

/** Turn and value of each signal for these actions. */
async function rewards(
  actions: readonly (string | Message)[],
  options: ToolMatchingOptions = {},
  of: Task = task,
): Promise<[number, number][]> {
  const turns = actions.map((action) =>
    turnOf([1], [2], {
      action: typeof action === "string" ? { role: "assistant", content: action } : action,
    }),
  );
  const ctx = ctxOf({ task: () => of });
  const signals = await toolMatching(options)(
    ctx,
    { trajectories: [trajectoryOf("a", turns)], units: [] },
    {},
  );
  return signals.map((s) => [s.about[0]!.turn!, Math.round(signalValue(s)! * 1e6) / 1e6]);
}

test("toolMatching is worked by hand", async () => {
  // find with lima and 1999: (1 + 2/2 + 1) / 4; with the city alone: (1 + 1/2 + 1) / 4; sum with x = 2: (1 + 1 + 0) / 3
  assert.deepEqual(await rewards(["call find city=lima year=1999"]), [[0, 0.75]]);
  assert.deepEqual(await rewards(["call find city=lima"]), [[0, 0.625]]);
  assert.deepEqual(await rewards(["call sum x=2"]), [[0, 0.666667]]);
  // numbers and texts that read alike are equal; another name has nothing in common
  assert.deepEqual(await rewards(["call find city=lima year=2020", "call other x=1", "done"]), [
    [0, 1],
    [1, 0],
  ]);
});

test("toolMatching pays a repeated call once over the whole trajectory, and the earlier of equals", async () => {
  const twice = ["call sum x=1", "call sum x=1"];
  assert.deepEqual(await rewards(twice), [
    [0, 1],
    [1, 0],
  ]);
  assert.deepEqual(await rewards(twice, { unmatched: -0.5 }), [
    [0, 1],
    [1, -0.5],
  ]);
  assert.deepEqual(await rewards(twice, { assignment: "best" }), [
    [0, 1],
    [1, 1],
  ]);
});

test("toolMatching: a turn of several calls earns their mean; JSON arguments count as well", async () => {
  const call = (name: string, json: string) => ({ id: name, name, arguments: json });
  const toolCalls = [call("find", '{"city":"lima","year":2020}'), call("sum", "not json")];
  // 1, and (1 + 0/1 + 0) / 3
  assert.deepEqual(await rewards([{ role: "assistant", content: "", toolCalls }]), [[0, 0.666667]]);
});

test("toolMatching, soft: two equal calls share the mass of their reference", async () => {
  // marginals: calls 1/3 each, references 1/2; similarity 1 for (sum, sum) twice and (find, find). With little
  // regularisation the plan gives find 1/3, each sum 1/4, and 1/6 lies where nothing is similar
  const three = ["call find city=lima year=2020", "call sum x=1", "call sum x=1"];
  const got = await rewards(three, { assignment: "soft", regularisation: 0.05 });
  [1 / 3, 1 / 4, 1 / 4].forEach((want, k) => {
    assert.ok(Math.abs(got[k]![1] - want) < 1e-3, `${got[k]![1]}, expected ${want}`);
  });
});

test("toolMatching says which task has no reference calls", async () => {
  await assert.rejects(
    rewards(["call sum x=1"], {}, { ...task, metadata: {} }),
    /task "task" without a list/,
  );
});

const matrix = fc
  .tuple(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: 5 }))
  .chain(([rows, columns]) =>
    fc.array(fc.array(fc.constantFrom(0, 0.25, 0.5, 0.75, 1), { minLength: columns, maxLength: columns }), {
      minLength: rows,
      maxLength: rows,
    }),
  );

/** The best total over all one-to-one assignments, by trying them. */
function bestTotal(
  S: readonly (readonly number[])[],
  used: ReadonlySet<number> = new Set(),
  row = 0,
): number {
  if (row === S.length) return 0;
  let best = bestTotal(S, used, row + 1);
  S[row]!.forEach((s, g) => {
    if (!used.has(g)) best = Math.max(best, s + bestTotal(S, new Set([...used, g]), row + 1));
  });
  return best;
}

test("assigned is one to one, leaves what has nothing in common, and has the largest total", () => {
  fc.assert(
    fc.property(matrix, (S) => {
      const columns = [...assigned(S)];
      const taken = columns.filter((c) => c >= 0);
      assert.equal(new Set(taken).size, taken.length);
      const values = columns.flatMap((c, p) => (c >= 0 ? [S[p]![c]!] : []));
      assert.ok(values.every((s) => s > 0));
      assert.ok(Math.abs(values.reduce<number>((a, b) => a + b, 0) - bestTotal(S)) < 1e-9);
    }),
    { seed: 4, numRuns: 200 },
  );
  assert.deepEqual([...assigned([])], []);
});

test("transported keeps both marginals", () => {
  fc.assert(
    fc.property(matrix, (S) => {
      const plan = transported(S, 0.5);
      for (const row of plan) assert.ok(Math.abs(row.reduce((a, b) => a + b, 0) - 1 / S.length) < 1e-6);
      for (let g = 0; g < S[0]!.length; g++) {
        let sum = 0;
        for (const row of plan) sum += row[g]!;
        assert.ok(Math.abs(sum - 1 / S[0]!.length) < 1e-9);
      }
    }),
    { seed: 4, numRuns: 50 },
  );
  assert.deepEqual(transported([], 0.1), []);
});
