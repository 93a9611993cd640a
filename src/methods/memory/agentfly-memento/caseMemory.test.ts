import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { batchOfRows, ctxOf, trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import type { Ctx, Play } from "../../../core/context.ts";
import type { Json } from "../../../core/json.ts";
import { randomStream } from "../../../core/random.ts";
import type { Task } from "../../../core/types.ts";
import { hashedText } from "../../../memory/hashedText.ts";
import { multiTurn } from "../../../rollout/multiTurn.ts";
import { artefactsIn, currentArtefact, proposedArtefacts } from "../../../train/artefacts.ts";
import { caseMemoryOf, rememberCases, withCases } from "./caseMemory.ts";

const tasks: readonly Task[] = [
  ["good jam", "the printer jams on paper"],
  ["bad jam", "the printer jams on paper again"],
  ["late", "the refund is late"],
].map(([id, content]) => ({
  id: id!,
  prompt: [
    { role: "system" as const, content: "be brief" },
    { role: "user" as const, content: content! },
  ],
  metadata: {},
  seed: 1,
}));

/** Replies once to each task, well where its name says so, and notes what was played. */
function world() {
  const memory = new Map<string, Json>();
  const asked: Play[] = [];
  const taskAt = (id: string): Task => tasks.find((t) => t.id === id)!;
  const ctx = (...training: readonly string[]): Ctx =>
    ctxOf({
      random: randomStream(1),
      tasks: training.map(taskAt),
      memory: { get: (key) => memory.get(key), set: (key, value) => void memory.set(key, value) },
      task: taskAt,
      embed: (texts) => hashedText().embed(texts),
      play: async (play) => {
        asked.push(play);
        const task = String(play.task);
        const action = { role: "assistant", content: `mend the ${task}` } as const;
        const end = { kind: "done", reason: "over", success: task.startsWith("good") } as const;
        return [trajectoryOf(`${asked.length}/${task}`, [turnOf([1], [2], { action })], { task, end })];
      },
    });
  return { ctx, asked, memory };
}

const rollout = withCases(multiTurn({ groupSize: 1 }), { by: "cosine", cases: 2 });
const remember = rememberCases({ helper: undefined, keep: 2 });

test("cases are shown by likeness, those that went well apart, and never to the iteration that made them", async () => {
  const { ctx, asked, memory } = world();
  const first = await rollout(ctx("good jam", "bad jam"));
  assert.deepEqual(
    asked.map(({ advice }) => advice),
    [[], []],
  );
  assert.deepEqual(first.stats, { "cases.shown": 0 });
  const evidence = { ...first, notes: {}, signals: [], channels: {} };
  const stats = await remember(ctx(), batchOfRows([]), [], evidence);
  assert.deepEqual(stats, { steps: 0, cases: 2, "cases.success": 0.5 });
  const second = await rollout(ctx("late"));
  assert.deepEqual(asked.at(-1)!.advice, [
    {
      role: "user",
      content: [
        "These went well :",
        "case : the printer jams on paper plan : mend the good jam",
        "These went badly :",
        "case : the printer jams on paper again plan : mend the bad jam",
      ].join("\n"),
    },
  ]);
  assert.deepEqual(second.stats, { "cases.shown": 2, "cases.good": 0.5 });
  // the memory holds the last two; it reads as an artefact that says where each case came from
  await remember(ctx(), batchOfRows([]), [], { ...second, notes: {}, signals: [], channels: {} });
  const { cases } = caseMemoryOf({ get: (key) => memory.get(key) });
  assert.deepEqual(
    cases.map(({ situation, plan, success, origins }) => [situation, plan, success, origins.trajectories]),
    [
      ["the printer jams on paper again", "mend the bad jam", false, ["2/bad jam"]],
      ["the refund is late", "mend the late", false, ["3/late"]],
    ],
  );
});

test("a text is embedded once, however many episodes look at it, and forgotten with its case", async () => {
  const { ctx, memory } = world();
  const embedded: string[] = [];
  const here = (...training: readonly string[]): Ctx => ({
    ...ctx(...training),
    embed: async (texts) => {
      embedded.push(...texts);
      // others look meanwhile
      await new Promise(setImmediate);
      return hashedText().embed(texts);
    },
  });
  const remembering = (...names: readonly string[]): void => {
    const cases = names.map((name) => ({ id: name, situation: name, plan: "mend it", success: true }));
    memory.set("cases", cases);
  };
  const [jam, again, late] = tasks.map(({ prompt }) => prompt[1]!.content);
  const own = withCases(multiTurn({ groupSize: 3 }), { by: "cosine" });
  remembering("a", "b");
  await own(here("good jam", "bad jam", "late"));
  assert.deepEqual(embedded.toSorted(), ["a", "b", jam, again, late].toSorted());
  await own(here("late"));
  assert.equal(embedded.length, 5, "known");
  remembering("b");
  await own(here("late"));
  remembering("a", "b");
  await own(here("late"));
  assert.deepEqual(embedded.slice(5), ["a"]);
});

test("every so often the memory is a version of an artefact, which no episode is told", async () => {
  const { ctx } = world();
  const state = { memory: {} };
  const noted = rememberCases({ helper: undefined, versionEvery: 2 });
  for (const [iteration, name] of ["good jam", "late", "bad jam"].entries()) {
    const here: Ctx = {
      ...ctx(name),
      clock: { iteration, phase: "train", step: 0, iterations: 3 },
      artefacts: artefactsIn(
        state,
        () => [],
        () => {},
      ),
    };
    const evidence = { ...(await rollout(here)), notes: {}, signals: [], channels: {} };
    await noted(here, batchOfRows([]), [], evidence);
  }
  const [first, last, ...more] = proposedArtefacts(state);
  assert.deepEqual(
    [first?.why, last?.why, last?.parents, more],
    ["after iteration 2: 2 cases", "after iteration 3: 3 cases", [first?.id], []],
  );
  assert.deepEqual(last?.origins.trajectories, ["1/good jam", "2/late", "3/bad jam"]);
  assert.equal(currentArtefact(state), undefined);
});

test("what else is said to an agent stays, after the cases", async () => {
  const { ctx, asked } = world();
  const here = ctx("good jam");
  const told = withCases(
    (c) => multiTurn({ groupSize: 1 })({ ...c, play: (p) => c.play({ ...p, advice: "hint" }) }),
    {
      by: "cosine",
    },
  );
  await told(here);
  assert.deepEqual(asked[0]!.advice, [{ role: "user", content: "hint" }]);
});

test("every case shown is credited with what came of its episode", async () => {
  const { ctx, memory } = world();
  for (const name of ["good jam", "bad jam", "good jam"]) {
    const played = await rollout(ctx(name));
    await rememberCases({ helper: undefined })(ctx(), batchOfRows([]), [], {
      ...played,
      notes: {},
      signals: [],
      channels: {},
    });
  }
  const rows = z.array(z.object({ y: z.number() })).parse(memory.get("cases.rows"));
  // one case was there for the second episode, which failed, and two for the third, which did not
  assert.deepEqual(
    rows.map(({ y }) => y),
    [0, 1, 1],
  );
});
