import assert from "node:assert/strict";
import { test } from "node:test";
import { ctxOf, trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import { obeysTheLaws } from "../../../../test/env/laws.ts";
import type { Json } from "../../../core/json.ts";
import { randomStream } from "../../../core/random.ts";
import type { Message } from "../../../core/types.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { trainInMemory } from "../../../train/trainInMemory.ts";
import { listedSubgoals, mistaken, noProgress, progressed } from "./advisor.ts";
import { beaconGrid, bearing, gridPolicy } from "./beaconGrid.ts";
import { beaconBonus, fadedBy } from "./beacons.ts";
import { wordsAsBeacons } from "./method.ts";

obeysTheLaws(() => beaconGrid(), { garbage: 0.1 });

const subgoals = [
  { say: "key", sign: "key held" },
  { say: "door", sign: "door open" },
];

test("bearing: one of eight directions, or here", () => {
  // cells of a grid of side 5: 12 is its centre
  assert.deepEqual(
    [7, 8, 13, 18, 17, 16, 11, 6, 12].map((to) => bearing(12, to, 5)),
    ["n", "ne", "e", "se", "s", "sw", "w", "nw", "here"],
  );
});

test("progressed: reached subgoals and those that waited too long give way", () => {
  const after = (...seen: readonly string[]) =>
    seen.reduce((progress, text) => progressed(progress, text, subgoals, 3), noProgress);
  assert.deepEqual(after("key n"), { at: 0, waited: 1, reached: false });
  assert.deepEqual(after("key n", "key held"), { at: 1, waited: 0, reached: true });
  // the sign still shows, but its subgoal has been left behind
  assert.deepEqual(after("key held", "key held"), { at: 1, waited: 1, reached: false });
  assert.deepEqual(after("key n", "key n", "key n"), { at: 1, waited: 0, reached: false });
  assert.deepEqual(after("key held", "door open", "door open"), { at: 2, waited: 0, reached: false });
});

test("listedSubgoals and mistaken: the task's list; wrong ones name another subgoal and never show", async () => {
  const task = { id: "t", prompt: [], metadata: { subgoals }, seed: 1 };
  assert.deepEqual(await listedSubgoals(task, randomStream(1)), subgoals);
  assert.deepEqual(await listedSubgoals({ ...task, metadata: {} }, randomStream(1)), []);
  assert.deepEqual(await mistaken(listedSubgoals, 0)(task, randomStream(1)), subgoals);
  const wrong = await mistaken(listedSubgoals, 1)(task, randomStream(1));
  assert.deepEqual(
    wrong.map(({ say }) => say),
    ["door", "key"],
  );
  assert.ok(wrong.every(({ sign }) => !"key held door open".includes(sign)));
});

test("fadedBy: linear over a share of the run", () => {
  const clock = { iteration: 10, phase: "train", step: 0 };
  assert.equal(fadedBy({ ...clock, iterations: 40 }, 0.5), 0.5);
  assert.equal(fadedBy({ ...clock, iterations: 10 }, 0.5), 1);
  assert.equal(fadedBy(clock, 0.5), 0);
});

test("beaconBonus: each subgoal pays its share once, at the action that reached it", async () => {
  const user = (content: string): Message => ({ role: "user", content });
  const did: Message = { role: "assistant", content: "north" };
  const seen = ["key n", "key held", "key held", "key held door open"];
  const turns = seen.map((_, k) =>
    turnOf([1], [2], {
      prompt: [
        user("task"),
        ...seen.slice(0, k + 1).flatMap((text, i) => [
          ...(i > 0 ? [did] : []),
          // the words of a subgoal are no sign of it
          user(text),
          user("subgoal : door open"),
        ]),
      ],
    }),
  );
  const ctx = ctxOf({
    clock: { iteration: 10, iterations: 40, phase: "train", step: 0 },
    memory: { get: () => subgoals as unknown as Json, set: () => {} },
  });
  const experience = { trajectories: [trajectoryOf("t", turns)], units: [] };
  const signals = await beaconBonus({ bonus: 0.8, patience: 20, fades: 0.5 })(ctx, experience, {});
  // a quarter of the run is over, half of the fading: 0.8 · ½ / 2 each
  assert.deepEqual(
    signals.map((signal) => [signal.about[0]!.turn, "value" in signal ? signal.value : 0]),
    [
      [0, 0.2],
      [2, 0.2],
    ],
  );
});

test("subgoals are shown at first and never in the end", async () => {
  const told: number[] = [];
  const done = await trainInMemory({
    environment: beaconGrid({ turns: 8 }),
    engine: tabularEngine(gridPolicy),
    method: wordsAsBeacons.build({ tasks: 4, groupSize: 2 }, { fades: 0.5 }),
    seed: 1,
    iterations: 6,
    contextTokens: 512,
    onIteration: ({ experience: { trajectories } }) =>
      void told.push(
        trajectories.filter(({ turns }) =>
          turns.some(({ prompt }) => prompt.at(-1)!.content.startsWith("subgoal :")),
        ).length,
      ),
  });
  assert.equal(told[0], 8);
  assert.equal(told.at(-1), 0);
  assert.equal(done.curve[0]!.told, 1);
});
