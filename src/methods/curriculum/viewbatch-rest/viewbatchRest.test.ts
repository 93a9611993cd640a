import assert from "node:assert/strict";
import { test } from "node:test";
import { ctxOf } from "../../../../test/core/make.ts";
import { obeysTheLaws } from "../../../../test/env/laws.ts";
import { randomStream } from "../../../core/random.ts";
import type { Task } from "../../../core/types.ts";
import { uniform } from "../../../data/uniform.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { trainInMemory } from "../../../train/trainInMemory.ts";
import { asFirstView, atFirstView } from "./firstView.ts";
import { inStages, keyedFacts, keyedPolicy, perStage, stageOf, stages } from "./keyedFacts.ts";
import { viewbatchRest } from "./method.ts";
import { firstViewOf, viewBatches, viewsOf, withoutSome } from "./viewBatches.ts";

obeysTheLaws(() => keyedFacts(1), { garbage: 0.2 });

const task = (id: string): Task => ({
  id,
  prompt: [{ role: "user", content: `${id} b c d e f g h` }],
  metadata: { known: 1 },
  seed: 1,
});

test("withoutSome: a share of the words goes, in place, and one stays", () => {
  const text = withoutSome("a b c d e f g h", 0.25, randomStream(3));
  const left = text.split(" ");
  assert.equal(left.length, 6);
  assert.deepEqual(left, left.toSorted());
  assert.equal(withoutSome("a b", 0.9, randomStream(1)).split(" ").length, 1);
  assert.equal(withoutSome("", 0.5, randomStream(1)), "");
});

test("viewsOf: the first view leaves out half as many words, and the others point to it", () => {
  const views = viewsOf(task("a"), 3, 0.5, randomStream(1), (view) => `a${view}`);
  assert.deepEqual(
    views.map(({ prompt }) => prompt[0]!.content.split(" ").length),
    [6, 4, 4],
  );
  assert.deepEqual(views.map(firstViewOf), [undefined, "a0", "a0"]);
  assert.equal(views[1]!.metadata.known, 1);
  // a single view is an ordinary one
  assert.equal(viewsOf(task("a"), 1, 0.5, randomStream(1), () => "a")[0]!.prompt[0]!.content.length, 7);
});

test("viewBatches: B/V tasks in V views, every task once per pass", async () => {
  const tasks = ["a", "b", "c", "d", "e", "f"].map(task);
  const data = viewBatches({ tasks: 6, views: 3 });
  let state = data.init(tasks);
  const seen: string[][] = [];
  for (let iteration = 0; iteration < 3; iteration++) {
    const ctx = ctxOf({ random: randomStream(iteration), clock: { iteration, phase: "train", step: 0 } });
    const chosen = await data.choose(ctx, tasks, state);
    assert.equal(chosen.tasks.length, 6);
    assert.equal(new Set(chosen.tasks.map(({ id }) => id)).size, 6);
    seen.push([...new Set(chosen.tasks.map(({ metadata }) => String(metadata.variantOf)))]);
    state = chosen.next;
  }
  assert.ok(seen.every((ids) => ids.length === 2));
  assert.deepEqual(seen.flat().toSorted(), ["a", "b", "c", "d", "e", "f"]);
});

test("the teacher of a view reads the first view's prompt, from the given iteration on", async () => {
  const [first, second] = viewsOf(task("a"), 2, 0.5, randomStream(1), (view) => `a${view}`);
  const at = (iteration: number) =>
    ctxOf({
      task: (id) => (id === "a0" ? first! : second!),
      clock: { iteration, phase: "train", step: 0 },
    });
  const nothing = { trajectories: [], units: [] };
  const told = (iteration: number, of: string) =>
    atFirstView(5)(at(iteration), { task: of } as Parameters<ReturnType<typeof atFirstView>>[1], nothing);
  assert.equal(await told(5, "a1"), first!.prompt[0]!.content);
  assert.equal(await told(4, "a1"), undefined);
  assert.equal(await told(5, "a0"), undefined, "the first view has no teacher");
  const reply = { role: "assistant", content: "so" } as const;
  assert.deepEqual(asFirstView([...second!.prompt, reply], "x y", second!), [
    { role: "user", content: "x y" },
    reply,
  ]);
});

test("with the consistency term, divergence is measured on all views but the first", async () => {
  const measured: number[] = [];
  const { curve } = await trainInMemory({
    environment: keyedFacts(1),
    engine: tabularEngine(keyedPolicy),
    method: viewbatchRest.build(
      { tasks: 8, optimiser: "sgd", learningRate: 3, minibatches: 1 },
      { from: 2, drop: 0.25 },
    ),
    seed: 1,
    iterations: 4,
    onIteration: ({ experience }) => void measured.push(experience.trajectories.length),
  });
  assert.deepEqual(measured, [8, 8, 8, 8]);
  // a token of the value and one of the end in each row
  assert.equal(curve[0]!["distillation.tokens"], 0);
  assert.equal(curve[3]!["distillation.tokens"], 12);
  assert.ok(curve[3]!["distillation.divergence"]! > 0);
});

test("inStages: a stage's facts for its iterations, and a few of each stage before", async () => {
  const tasks = keyedFacts(1).tasks("train");
  const data = inStages(uniform({ tasks: 1000 }), { iterations: 10, kept: 3 });
  const at = async (iteration: number) => {
    const ctx = ctxOf({ random: randomStream(1), clock: { iteration, phase: "train", step: 0 } });
    const counts = Array.from({ length: stages }, () => 0);
    for (const chosen of (await data.choose(ctx, tasks, data.init(tasks))).tasks) counts[stageOf(chosen)]!++;
    return counts;
  };
  assert.deepEqual(await at(9), [perStage, 0, 0, 0, 0]);
  assert.deepEqual(await at(25), [3, 3, perStage, 0, 0]);
});
