import assert from "node:assert/strict";
import { test } from "node:test";
import { ctxOf, trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import { obeysTheLaws } from "../../../../test/env/laws.ts";
import type { Json } from "../../../core/json.ts";
import { randomStream } from "../../../core/random.ts";
import type { Trajectory } from "../../../core/types.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { keyGrid } from "../../../env/keyGrid.ts";
import { method } from "../../../method/method.ts";
import { trainInMemory } from "../../../train/trainInMemory.ts";
import { type Frames, frameJudge, type Judged } from "./frameJudge.ts";
import { framesOf, judgedFrames } from "./judgedFrames.ts";
import { unannounced } from "./unannounced.ts";

obeysTheLaws(() => unannounced(keyGrid()), { garbage: 0.5, flawed: [0.1, 1] });

const way: Frames = ["cell 0", "cell 1", "cell 2", "cell 3", "cell 4"];
const rows = (frames: Frames, y: number) => ({ x: frames, y, weight: 1 });

test("a judge of frames orders them, says how far they are, and knows the goal from a failed attempt's last frame", async () => {
  const judge = frameJudge({ strength: 1e-4, passes: 500 })(randomStream(1));
  await judge.fit([
    ...Array.from({ length: 4 }, () => rows(way, 1)),
    rows(["cell 0", "cell 1", "cell 9"], 0),
  ]);
  const [on, back, goal, off] = await judge.predict([
    ["cell 1", "cell 2"],
    ["cell 3", "cell 1"],
    ["cell 3", "cell 4"],
    ["cell 1", "cell 9"],
  ]);
  assert.deepEqual([on!.contrast, back!.contrast], [1, -1]);
  assert.ok(Math.abs(on!.progress - 0.5) < 0.1 && Math.abs(on!.gain - 0.25) < 0.15, JSON.stringify(on));
  assert.ok(back!.gain < 0);
  assert.deepEqual(
    [on, back, goal, off].map((said) => said!.completed),
    [false, false, true, false],
  );
  const again = frameJudge()(randomStream(2));
  again.load(judge.save());
  assert.deepEqual(await again.predict([["cell 1", "cell 2"]]), [on]);
});

test("a judge that has seen nothing says nothing, and is unsure of what looks the same", async () => {
  const judge = frameJudge()(randomStream(1));
  assert.deepEqual(await judge.predict([["a", "b"]]), [
    { contrast: 0, gain: 0, progress: 0.5, completed: false },
  ]);
  await judge.fit([rows(way, 1)]);
  assert.equal((await judge.predict([["cell 2", "cell 2"]]))[0]!.contrast, 0);
});

const seeing = (...frames: string[]): Trajectory =>
  trajectoryOf(
    "t",
    frames.map((content) => turnOf([1], [2], { prompt: [{ role: "user", content }] })),
    { end: { kind: "done", reason: "over", success: true } },
  );

test("a step pays its contrast, gain and completion; nothing is paid after the goal, nor for the last action", async () => {
  const said: Readonly<Record<string, Judged>> = {
    b: { contrast: 1, gain: 0.25, progress: 0.5, completed: false },
    c: { contrast: -1, gain: -0.125, progress: 0.375, completed: true },
    d: { contrast: 1, gain: 0.5, progress: 0.875, completed: true },
  };
  const helper = {
    fit: async () => ({}),
    predict: async (all: readonly Frames[]) => all.map(([, now]) => said[now!]!),
  };
  const memory = new Map<string, Json>();
  const ctx = ctxOf({
    helper: () => helper as never,
    play: async () => [],
    tasks: [{ id: "t", prompt: [], metadata: {}, seed: 1 }],
    memory: { get: (key) => memory.get(key), set: (key, value) => void memory.set(key, value) },
  });
  const pays = { contrast: 0.1, progress: 2, completion: 1, demonstrations: 1 };
  const values = async (options = {}) =>
    (
      await judgedFrames({ ...pays, ...options })(
        ctx,
        { trajectories: [seeing("a", "b", "c", "d")], units: [] },
        {},
      )
    ).map((s) => (s.kind === "reward" ? s.value : Number.NaN));
  // 0.1 + 2 · 0.25;  −0.1 − 2 · 0.125 + 1;  then the attempt counts as over
  assert.deepEqual(await values(), [0.6, 0.65, 0, 0]);
  // 0.1 + 2 · 0.5;  −0.1 + 2 · 0.375 + 1
  assert.deepEqual(await values({ absolute: true }), [1.1, 1.65, 0, 0]);
});

test("frames are what was last seen before each action", () => {
  assert.deepEqual(framesOf(seeing("a", "b")), ["a", "b"]);
  assert.deepEqual(framesOf(trajectoryOf("t", [])), []);
});

test("the judge is fitted once, to demonstrations and the first failures", async () => {
  const fits: number[] = [];
  const counting = (random: Parameters<ReturnType<typeof frameJudge>>[0]) => {
    const judge = frameJudge()(random);
    return {
      ...judge,
      fit(all: Parameters<typeof judge.fit>[0]) {
        fits.push(all.length);
        return judge.fit(all);
      },
    };
  };
  await trainInMemory({
    environment: unannounced(keyGrid({ side: 4, turns: 8 })),
    method: method({
      id: "m",
      family: "judges",
      summary: "s",
      helpers: { judge: counting },
      slots: { feedback: judgedFrames({ contrast: 0, progress: 1, completion: 1, demonstrations: 3 }) },
    }).build({ tasks: 2, groupSize: 2 }),
    engine: tabularEngine({ context: "message" }),
    seed: 1,
    iterations: 2,
  });
  assert.equal(fits.length, 1);
  assert.ok(fits[0]! >= 3 && fits[0]! <= 7);
});
