import assert from "node:assert/strict";
import { test } from "node:test";
import { ctxOf, trajectoryOf } from "../../../../test/core/make.ts";
import { randomStream } from "../../../core/random.ts";
import type { AnnotatedExperience } from "../../../core/slots.ts";
import type { Task } from "../../../core/types.ts";
import { uniform } from "../../../data/uniform.ts";
import { stagedFormats } from "./stagedFormats.ts";

const task = (id: string, formats: readonly string[]): Task => ({
  id,
  prompt: [],
  metadata: { formats: [...formats] },
  seed: 1,
});
const tasks = [
  task("long", ["choice", "fill", "open"]),
  task("short", ["choice", "open"]),
  task("plain", []),
];

/** @param successes of each iteration's attempts. @returns the formats of the three tasks, by iteration. */
async function stages(successes: readonly (readonly boolean[])[], perStage: number) {
  const data = stagedFormats(uniform({ tasks: 3 }), { perStage });
  let state = data.init(tasks);
  const asked: Task[][] = [];
  for (const [iteration, attempts] of successes.entries()) {
    const ctx = ctxOf({ random: randomStream(iteration), tasks });
    const chosen = await data.choose(ctx, tasks, state);
    asked.push(
      chosen.tasks.toSorted(
        (a, b) =>
          tasks.findIndex((t) => a.id.startsWith(t.id)) - tasks.findIndex((t) => b.id.startsWith(t.id)),
      ),
    );
    const trajectories = attempts.map((success, i) =>
      trajectoryOf(`${i}`, [], { end: { kind: "done", reason: "over", success } }),
    );
    const annotated: AnnotatedExperience = { trajectories, units: [], notes: {}, signals: [], channels: {} };
    state = await data.observe(ctx, annotated, chosen.next);
  }
  return asked;
}
const formatOf = ({ metadata }: Task) => metadata.format ?? "itself";
const [yes, no] = [true, false];

test("a stage lasts its iterations; each task ends as itself, one with fewer formats earlier", async () => {
  const asked = await stages([[no], [no], [no], [no], [no], [no]], 2);
  assert.deepEqual(
    asked.map((iteration) => iteration.map(formatOf)),
    [
      ["choice", "choice", "itself"],
      ["choice", "choice", "itself"],
      ["fill", "itself", "itself"],
      ["fill", "itself", "itself"],
      ["itself", "itself", "itself"],
      ["itself", "itself", "itself"],
    ],
  );
  assert.notEqual(asked[0]![0]!.seed, asked[1]![0]!.seed);
  assert.equal(asked.at(-1)![0], tasks[0]);
});

test("a stage ends at once where more than 0.8 succeed, not at 0.8", async () => {
  const asked = await stages([[yes, yes, yes, yes, no], [yes], [yes], [no]], 10);
  assert.deepEqual(
    asked.map(([long]) => formatOf(long!)),
    ["choice", "choice", "fill", "itself"],
  );
});

test("an iteration whose episodes all failed counts as one without success", async () => {
  assert.deepEqual(
    (await stages([[], []], 1)).map(([long]) => formatOf(long!)),
    ["choice", "fill"],
  );
});
