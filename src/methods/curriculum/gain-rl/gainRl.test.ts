import assert from "node:assert/strict";
import { test } from "node:test";
import { ctxOf, trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import { obeysTheLaws } from "../../../../test/env/laws.ts";
import type { Model } from "../../../core/model.ts";
import { randomStream } from "../../../core/random.ts";
import type { Task } from "../../../core/types.ts";
import { type ConcentratedOptions, concentrated, drawnRanks, stepOf } from "./concentrated.ts";
import { concentrations, cosineAcross, cosineWithin, shared } from "./concentration.ts";
import { digits } from "./digits.ts";

const near = (a: number, b: number, tolerance = 1e-6): void =>
  assert.ok(Math.abs(a - b) < tolerance, `${a} against ${b}`);

test("cosineWithin: the mean over pairs of different tokens, whatever their lengths", () => {
  // directions (1, 0), (0, 1), (1, 1)/√2: cosines 0, 1/√2, 1/√2
  const states = { of: Float32Array.of(3, 0, 0, 0.5, 2, 2), width: 2 };
  near(cosineWithin(states, 0, 3), (2 * Math.SQRT1_2) / 3);
  near(cosineWithin(states, 1, 3), Math.SQRT1_2);
  assert.equal(cosineWithin(states, 1, 2), 0, "one token makes no pair");
});

test("cosineAcross: question tokens against the shared prefix", () => {
  const states = { of: Float32Array.of(1, 0, 0, 1, 1, 1, 0, -1), width: 2 };
  // (1,0) with (1,1)/√2 and (0,−1): 0.707, 0; (0,1): 0.707, −1
  near(cosineAcross(states, 0, 2, 4), (Math.SQRT1_2 + 0 + Math.SQRT1_2 - 1) / 4);
  assert.equal(cosineAcross(states, 1, 1, 4), 0, "no prefix");
});

test("shared: what all sequences begin and end with", () => {
  const all = [Int32Array.of(1, 2, 3, 9), Int32Array.of(1, 2, 4, 5, 9), Int32Array.of(1, 2, 9)];
  assert.deepEqual([shared(all), shared(all, "end"), shared([])], [2, 1, 0]);
});

/** Token 1 begins, 9 ends; the state of token t is a unit vector at angle 10° · t. */
const model = {
  codec: {
    endId: 0,
    open: (messages: Task["prompt"]) =>
      Int32Array.from([1, ...messages[0]!.content.split(" ").map(Number), 9]),
  },
  score: async ({ tokens_N, target_A }: { tokens_N: Int32Array; target_A: Int32Array }) => {
    const angles = [...target_A].map((at) => (tokens_N[at - 1]! * Math.PI) / 18);
    return {
      logp: new Float32Array(target_A.length),
      heads: {},
      hidden: [Float32Array.from(angles.flatMap((a) => [Math.cos(a), Math.sin(a)]))],
    };
  },
} as unknown as Model;

const asking = (id: string, content: string): Task => ({
  id,
  prompt: [{ role: "user", content }],
  metadata: {},
  seed: 1,
});
const tasks = [asking("wide", "2 11 20"), asking("narrow", "2 5 6"), asking("equal", "2 3 3")];

test("concentrations: the question's pairs plus its cosine with the shared prefix", async () => {
  const found = await concentrations(model, tasks, { layer: -1, across: 1 });
  const cos = (degrees: number): number => Math.cos((degrees * Math.PI) / 180);
  // the prefix is "1 2" without its first token; "9" ends all prompts and is left out
  near(found.get("wide")!, cos(90) + (cos(90) + cos(180)) / 2);
  near(found.get("narrow")!, cos(10) + (cos(30) + cos(40)) / 2);
  near(found.get("equal")!, 1 + cos(10));
});

test("stepOf: both terms of the centre's step, never back and never too far", () => {
  near(stepOf({ accuracy: 0.5, angle: 0 }, 10, 100), 0);
  near(stepOf({ accuracy: 1, angle: 0.25 }, 10, 100), 10 * Math.tanh(1) + 10 * Math.tanh(0.5));
  assert.equal(stepOf({ accuracy: 1, angle: 0.25 }, 10, 3), 3);
  assert.equal(stepOf({ accuracy: 0, angle: 0.1 }, 10, 100), 0);
});

test("drawnRanks: a Gaussian over ranks, without replacement", () => {
  const draws = Array.from({ length: 400 }, (_, i) => drawnRanks(100, 5, 30, 6, randomStream(i)));
  for (const ranks of draws) assert.equal(new Set(ranks).size, 5);
  const first = draws.map(([rank]) => rank!);
  const mean = first.reduce((a, b) => a + b / first.length, 0);
  const deviation = Math.sqrt(first.reduce((a, b) => a + (b - mean) ** 2 / first.length, 0));
  near(mean, 30, 1);
  near(deviation, 6, 1);
  assert.deepEqual(drawnRanks(3, 9, 0, 1, randomStream(1)).toSorted(), [0, 1, 2]);
});

const options: ConcentratedOptions = {
  ...{ tasks: 1, advance: 0.5, spread: 0.01, most: 1, across: 1, layer: -1, rank: "concentrated" },
};

test("concentrated: begins at the most concentrated task and moves on with rewards and angles", async () => {
  const data = concentrated(options);
  const ctx = ctxOf({ random: randomStream(1), model: () => model });
  const first = await data.choose(ctx, tasks, data.init(tasks));
  assert.deepEqual(first.next.order, ["equal", "narrow", "wide"]);
  assert.deepEqual(
    first.tasks.map(({ id }) => id),
    ["equal"],
  );
  // tokens 2 2: a cosine of 1; mean reward 1: 1.5 tanh 1 + 1.5 tanh 2 = 2.59, cut at the last rank
  const won = trajectoryOf("a", [turnOf([2], [2], { rewards: { outcome: 1 } })], { task: "equal" });
  const experience = { trajectories: [won], units: [], notes: {}, signals: [], channels: {} };
  const after = await data.observe(ctx, experience, first.next);
  assert.equal(after.centre, 2);
  const last = await data.choose(ctx, tasks, after);
  assert.deepEqual(
    last.tasks.map(({ id }) => id),
    ["wide"],
  );
  const failed = { ...won, end: { kind: "failed", boundary: "tool", message: "" } as const };
  assert.deepEqual(await data.observe(ctx, { ...experience, trajectories: [failed] }, after), after);
});

test("concentrated, in random order: the same window over all tasks", async () => {
  const data = concentrated({ ...options, tasks: 3, spread: 10, rank: "random" });
  const ctx = ctxOf({ random: randomStream(6), model: () => model });
  const { tasks: chosen, next } = await data.choose(ctx, tasks, data.init(tasks));
  assert.deepEqual(chosen.map(({ id }) => id).toSorted(), ["equal", "narrow", "wide"]);
  assert.notDeepEqual(next.order, ["equal", "narrow", "wide"]);
});

obeysTheLaws(() => digits({ questions: 12, heldOut: 5 }), { garbage: 0.3 });

test("digits: the last digit of sums and products, and the largest; held-out questions are others", () => {
  const world = digits();
  const answers = new Map(
    ["train", "test"].flatMap((split) =>
      world.tasks(split).map(({ prompt, reference }) => [prompt[0]!.content, reference] as const),
    ),
  );
  assert.equal(answers.size, 500);
  for (const [asked, answer] of answers) {
    const [name, ...rest] = asked.split(" ");
    const [a, b, ...more] = rest.map(Number) as [number, number];
    if (more.length > 0) continue;
    const worked = name === "sum" ? (a + b) % 10 : name === "product" ? (a * b) % 10 : a > b ? a : b;
    assert.equal(Number(answer), worked, asked);
  }
});
