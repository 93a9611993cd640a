import assert from "node:assert/strict";
import { test } from "node:test";
import { obeysTheLaws } from "../../../../test/env/laws.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { trainInMemory } from "../../../train/trainInMemory.ts";
import { earlyExperience } from "./method.ts";
import { reflection, worldQuestion } from "./ownActions.ts";
import { lastWord, toolWords, workshop, workshopReader, workshopSpeaker } from "./workshop.ts";

const world = workshop(1);
obeysTheLaws(() => workshop(1), { garbage: 0.5 });

/** What a run of four iterations trains on: decoded prompts and targets of the rows of each iteration. */
async function trained(learn: "world" | "reflection") {
  const iterations: { rows: { prompt: string; target: string }[]; units: number; own: number | undefined }[] =
    [];
  const decoders: ((ids: Int32Array) => string)[] = [];
  const { counters } = await trainInMemory({
    environment: world,
    engine: tabularEngine({ prior: workshopSpeaker, features: workshopReader }),
    method: earlyExperience.build({ tasks: 48, learningRate: 0.1 }, { learn, alternatives: 3, share: 0.5 }),
    seed: 1,
    iterations: 4,
    onIteration: ({ experience, stats }, _state, { codec }) => {
      decoders.push(codec.decode);
      const rows = (experience.rows ?? []).map(({ tokens, targets }) => ({
        prompt: codec.decode(tokens.slice(0, targets[0])),
        target: codec.decode(tokens.slice(targets[0])),
      }));
      iterations.push({ rows, units: experience.units.length, own: stats.own });
    },
  });
  return { iterations, counters };
}

test("world: first what own actions led to, and no expert; then the expert alone", async () => {
  const { iterations, counters } = await trained("world");
  assert.deepEqual(
    iterations.map(({ rows, units }) => [rows.length > 0, units]),
    [
      [true, 0],
      [true, 0],
      [false, 48],
      [false, 48],
    ],
  );
  const byPrompt = new Map(world.tasks("train").map((task) => [task.prompt[0]!.content, task]));
  for (const { prompt, target } of iterations[0]!.rows) {
    const [, thing, state, , , , , tool] = prompt.split(" ");
    const task = byPrompt.get(`make ${thing} ${state}`)!;
    assert.equal(prompt, `make ${thing} ${state} ${worldQuestion(tool!)}`);
    assert.notEqual(tool, world.right(task));
    assert.equal(target, `${thing} is ${world.after(task, tool!)}`);
  }
  // tried once for each task: 48 × 3 episodes, however many iterations read them
  assert.equal(counters.episodes, 144);
  assert.equal(iterations[0]!.rows.length, iterations[1]!.rows.length);
});

test("reflection: own actions are distinct, none is the expert's, and the expert's comes last", async () => {
  const { iterations } = await trained("reflection");
  assert.deepEqual(
    iterations.map(({ units }) => units),
    [48, 48, 48, 48],
  );
  const byPrompt = new Map(world.tasks("train").map((task) => [task.prompt[0]!.content, task]));
  const { rows, own } = iterations[0]!;
  for (const { prompt, target } of rows) {
    const right = world.right(byPrompt.get(prompt)!);
    assert.equal(lastWord(target), right);
    assert.notEqual(target.split(" ")[1], right);
  }
  assert.equal(new Set(rows.map(({ prompt, target }) => `${prompt} ${target}`)).size, rows.length);
  assert.ok(Math.abs(own! - rows.length / 48) < 1e-12 && own! > 1 && own! < 3, `${own}`);
});

test("a reflection says what was done and seen, and ends with the expert's action", () => {
  assert.equal(reflection({ turn: 0, action: "t1", seen: "o7 is s2" }, "t3"), "after t1 : o7 is s2 so t3");
});

test("a kind is a permutation, and held-out tasks ask for what training does not", () => {
  for (const task of world.tasks("train"))
    assert.equal(new Set(toolWords.map((tool) => world.after(task, tool))).size, toolWords.length);
  const ids = [...world.tasks("train"), ...world.tasks("test")].map(({ id }) => id);
  assert.equal(new Set(ids).size, 24 * 5);
  assert.equal(workshop(1, [2, 3]).tasks("test").length, 24);
});
