import assert from "node:assert/strict";
import { test } from "node:test";
import { ctxOf, trajectoryOf } from "../../../../test/core/make.ts";
import { mapById } from "../../../common/mapById.ts";
import { randomStream } from "../../../core/random.ts";
import type { AnnotatedExperience } from "../../../core/slots.ts";
import type { Task } from "../../../core/types.ts";
import { reserved } from "../../../data/reserved.ts";
import { uniform } from "../../../data/uniform.ts";
import { type ClimbingOptions, climbing } from "./climbing.ts";

const task = (id: string, formats?: readonly string[]): Task => ({
  id,
  prompt: [],
  metadata: formats ? { formats: [...formats] } : {},
  seed: 7,
});
const ladder = ["four choice", "ten choice", "open"];

/** Success of the attempts at the one task in each visit. @returns the formats asked for, by visit. */
async function formatsAfter(
  visits: readonly (readonly boolean[])[],
  options: ClimbingOptions = {},
  tasks = [task("q", ladder)],
) {
  const data = climbing(uniform({ tasks: 1 }), options);
  let state = data.init(tasks);
  const asked: Task[] = [];
  for (const [iteration, attempts] of visits.entries()) {
    const random = randomStream(1).split(iteration);
    const chosen = await data.choose(ctxOf({ random, tasks }), tasks, state);
    asked.push(...chosen.tasks);
    const known = mapById([...tasks, ...chosen.tasks]);
    const trajectories = attempts.map((success, i) =>
      trajectoryOf(`${i}`, [], {
        task: chosen.tasks[0]!.id,
        end: { kind: "done", reason: "over", success },
      }),
    );
    const annotated: AnnotatedExperience = { trajectories, units: [], notes: {}, signals: [], channels: {} };
    state = await data.observe(ctxOf({ task: (id) => known.get(id)! }), annotated, chosen.next);
  }
  return { asked, formats: asked.map(({ metadata }) => metadata.format ?? "itself"), state };
}

const [yes, no] = [true, false];

test("a task climbs once more than half of a visit succeeds, never down, and ends as itself", async () => {
  const { formats, asked, state } = await formatsAfter([
    [yes, no], // exactly half is not more
    [yes, yes],
    [no, no],
    [yes, yes, no],
    [no, no],
  ]);
  assert.deepEqual(formats, ["four choice", "four choice", "ten choice", "ten choice", "itself"]);
  assert.equal(
    asked.at(-1),
    asked.find(({ id }) => id === "q"),
  );
  assert.equal(state.rungs.q!.level, 2);
  assert.equal(state.rungs.q!.visits, 5);
});

test("over two visits the mean counts, and it begins anew at each level", async () => {
  const { formats } = await formatsAfter([[yes], [no], [yes], [yes], [yes], [yes], [yes]], { window: 2 });
  // 1, 0 → ½; 0, 1 → ½; 1, 1 climbs after the fourth; the next two climb again
  assert.deepEqual(formats, [
    "four choice",
    "four choice",
    "four choice",
    "four choice",
    "ten choice",
    "ten choice",
    "itself",
  ]);
});

test("every visit draws its choices anew, under an id of its own", async () => {
  const { asked } = await formatsAfter([[no], [no]]);
  assert.notEqual(asked[0]!.id, asked[1]!.id);
  assert.notEqual(asked[0]!.seed, asked[1]!.seed);
  assert.deepEqual((await formatsAfter([[no], [no]])).asked, asked);
});

test("a task without formats is asked as it is; a visit in which all fail counts for nothing", async () => {
  const plain = task("plain");
  assert.deepEqual((await formatsAfter([[yes], [yes]], {}, [plain])).asked, [plain, plain]);
  const { state } = await formatsAfter([[]]);
  assert.deepEqual(state.rungs.q, { level: 0, recent: [], visits: 1 });
});

test("over another data piece: it chooses as it does alone, and each keeps its own state", async () => {
  const tasks = ["a", "b", "c", "d"].map((id) => task(id, ladder));
  const inner = reserved(uniform({ tasks: 2 }), { tasks: 1 });
  const both = climbing(inner);
  const ctx = () => ctxOf({ random: randomStream(5), tasks });
  const chosen = await both.choose(ctx(), tasks, both.init(tasks));
  const alone = await inner.choose(ctx(), tasks, inner.init(tasks));
  assert.deepEqual(
    chosen.tasks.map(({ metadata }) => metadata.variantOf),
    alone.tasks.map(({ id }) => id),
  );
  assert.deepEqual(chosen.next.each, alone.next);
  assert.deepEqual(Object.keys(chosen.next.rungs).sort(), alone.tasks.map(({ id }) => id).sort());
});
