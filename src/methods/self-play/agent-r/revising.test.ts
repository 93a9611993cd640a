import assert from "node:assert/strict";
import { test } from "node:test";
import { trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import type { Trajectory } from "../../../core/types.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { scriptedCritiquer } from "../../../evaluator/scripted.ts";
import { method } from "../../../method/method.ts";
import { treeSearch } from "../../../rollout/treeSearch.ts";
import { trainInMemory } from "../../../train/trainInMemory.ts";
import { keyDoor, rightAction } from "../../../worlds/keyDoor.ts";
import { agentR } from "./method.ts";
import { firstError, type RevisingOptions, revising, sharedTurns, spliced } from "./revising.ts";

const saying = (id: string, words: string): Trajectory =>
  trajectoryOf(
    id,
    words.split(" ").map((content) => turnOf([1], [2], { action: { role: "assistant", content } })),
  );
const mark = (turn: number, good: boolean) => ({ turn, from: 0, to: 1, good });

test("sharedTurns, firstError and spliced: the bad beginning, the thought, the good rest", () => {
  const [bad, good] = [saying("bad", "a b x y"), saying("good", "a b c d e")];
  assert.equal(sharedTurns(bad, good), 2);
  assert.equal(sharedTurns(bad, bad), 4);
  const critique = { text: "", marks: [mark(0, false), mark(3, false), mark(2, false), mark(1, true)] };
  assert.equal(firstError(bad, critique, 2), 2); // a mistake before they part is shared by the good one
  assert.equal(firstError(bad, critique, 3), 3);
  assert.equal(firstError(bad, undefined, 2), 3); // none is called wrong: the last
  assert.deepEqual(
    spliced(bad, good, 2, "rethink").map(({ text, forced }) => (forced ? `(${text})` : text)),
    ["(a)", "(b)", "(x)", "rethink", "c", "d", "e"],
  );
});

const opened = (t: Trajectory): number => t.turns.at(-1)?.rewards.outcome ?? 0;

async function revised(at: RevisingOptions["at"]) {
  const environment = keyDoor({ cells: 3, turns: 20 });
  const found: Trajectory[] = [];
  const units = new Set<string>();
  await trainInMemory({
    environment: { ...environment, tasks: (split) => environment.tasks(split).slice(0, 3) },
    // knows the right action in half of the cases, and repeats nothing on purpose
    engine: tabularEngine({
      context: "message",
      prior: (context, word) =>
        !/^(left|right|pick|open|wave|sing)$/.test(word)
          ? -1e9
          : word === rightAction(context.slice(1, 5).join(" "), 3)
            ? 2
            : 0,
    }),
    method: method({
      id: "revised",
      family: "self-play",
      summary: "agent-r in a small corridor",
      says: ["rethink"],
      slots: {
        rollout: revising(
          treeSearch({
            ...{ simulations: 30, width: 3, limits: { turns: 8 }, worth: opened },
            rule: { kind: "uct", exploration: 0.5 },
          }),
          {
            ...{
              critiquer: scriptedCritiquer({ detail: "hint" }),
              thought: "rethink",
              most: 20,
              worth: opened,
            },
            ...{ bad: 0.2, good: [0.5, 1], at },
          },
        ),
        advantage: agentR.build({}).slots.advantage,
        objective: agentR.build({}).slots.objective,
      },
    }).build({ tasks: 3, learningRate: 0 }),
    seed: 2,
    iterations: 1,
    onIteration: ({ experience }) => {
      found.push(...experience.trajectories);
      for (const { members } of experience.units) for (const id of members) units.add(id);
    },
  });
  const revisions = found.filter((t) => t.lineage?.why === "rewrite");
  return { found, units, revisions };
}

test("revisions succeed when they are played, and their wrong actions are context", async () => {
  const { found, units, revisions } = await revised("first error");
  assert.ok(revisions.length > 0);
  const byId = new Map(found.map((t) => [t.id, t]));
  for (const t of revisions) {
    const cut = t.lineage!.turn;
    const words = t.turns.map(({ action }) => action.content.trim());
    assert.equal(words.indexOf("rethink"), cut);
    const bad = byId.get(t.lineage!.parent)!;
    assert.deepEqual(
      words.slice(0, cut),
      bad.turns.slice(0, cut).map(({ action }) => action.content.trim()),
    );
    assert.equal(opened(t), 1);
    assert.equal(opened(bad), 0);
    t.turns.forEach(({ tokens }, k) => {
      assert.equal(tokens!.forced?.every((f) => f === 1) ?? false, k < cut);
    });
    // prompts are those of the splice, and each continues the one before
    t.turns.slice(1).forEach(({ tokens }, k) => {
      const before = t.turns[k]!.tokens!;
      assert.deepEqual(
        [...tokens!.prompt.subarray(0, before.prompt.length + before.action.length)],
        [...before.prompt, ...before.action],
      );
    });
  }
  for (const t of found) assert.equal(units.has(t.id), opened(t) === 1);
});

test("cut at the end, nothing of a bad episode is left out", async () => {
  const { found, revisions } = await revised("end");
  const byId = new Map(found.map((t) => [t.id, t]));
  for (const { lineage } of revisions) assert.equal(lineage!.turn, byId.get(lineage!.parent)!.turns.length);
});
