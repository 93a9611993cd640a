import assert from "node:assert/strict";
import { test } from "node:test";
import { ctxOf, trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import type { Json } from "../../../core/json.ts";
import { randomStream } from "../../../core/random.ts";
import { hashedText } from "../../../memory/hashedText.ts";
import { behavioursOf, commentMetrics } from "./commentMetrics.ts";
import { type Aspect, explained, inducedMetrics, meanRating, metricOf, traitsOf } from "./induction.ts";
import { commentsOn, logs } from "./logs.ts";

/** A direction in the plane, by its angle in degrees. */
const toward = (angle: number): Float32Array =>
  Float32Array.of(Math.cos((angle * Math.PI) / 180), Math.sin((angle * Math.PI) / 180));
const aspect = (angle: number, sign: 1 | -1): Aspect => ({
  at: toward(angle),
  behaviour: toward(angle),
  sign,
});

test("aspects that mean the same become one metric, praise and blame together", () => {
  const aspects = [aspect(0, 1), aspect(5, -1), aspect(90, -1), aspect(95, 1), aspect(180, 1)];
  const metrics = inducedMetrics(aspects, 3, randomStream(1));
  assert.deepEqual(metrics.map(({ examples }) => examples.length).sort(), [1, 2, 2]);
  assert.equal(inducedMetrics(aspects, 1, randomStream(1)).length, 1);
  assert.equal(inducedMetrics([aspect(0, 1), aspect(0, 1)], 5, randomStream(1)).length, 1);
  assert.deepEqual(inducedMetrics([], 5, randomStream(1)), []);
});

test("a trait is the sign of the most similar example, and none where nothing is similar", () => {
  const metrics = [{ examples: [aspect(0, 1), aspect(20, -1)] }, { examples: [aspect(90, -1)] }];
  assert.deepEqual(traitsOf([toward(2)], metrics, 0.9), [{ metric: 0, rating: 1 }]);
  assert.deepEqual(traitsOf([toward(18), toward(88)], metrics, 0.9), [
    { metric: 0, rating: -1 },
    { metric: 1, rating: -1 },
  ]);
  assert.deepEqual(traitsOf([toward(200)], metrics, 0.9), []);
  assert.equal(meanRating([]), undefined);
  assert.equal(
    meanRating([
      { metric: 0, rating: 1 },
      { metric: 1, rating: -1 },
    ]),
    0,
  );
  assert.equal(metricOf(aspect(80, 1), metrics), 1);
});

test("coverage counts aspects that are explained with their sign, redundancy traits that explain none", () => {
  const { coverage, redundancy } = explained([
    {
      traits: [
        { metric: 0, rating: 1 },
        { metric: 1, rating: -1 },
        { metric: 2, rating: 1 },
      ],
      aspects: [
        { metric: 0, sign: 1 },
        { metric: 0, sign: 1 },
        { metric: 1, sign: 1 },
      ],
    },
    { traits: [{ metric: 1, rating: 1 }], aspects: [{ metric: 1, sign: 1 }] },
  ]);
  // three of four aspects; traits used: 0 in the first, 1 in the second; two of four explain nothing
  assert.equal(coverage, 0.75);
  assert.equal(redundancy, 0.5);
});

const said = (id: string, content: string) =>
  trajectoryOf(id, [
    turnOf([1], [2], { prompt: [{ role: "user", content: "go" }], action: { role: "assistant", content } }),
  ]);

test("attempts are rated by comments on others, which the run remembers; what no comment is like gets no signal", async () => {
  const memory = new Map<string, Json>();
  const { embed } = hashedText();
  const rated = async (attempts: ReturnType<typeof said>[]) => {
    const ctx = ctxOf({
      random: randomStream(1),
      embed,
      task: (id) => ({ id, prompt: [], metadata: {}, seed: 1 }),
      memory: { get: (key) => memory.get(key), set: (key, value) => void memory.set(key, value) },
      environment: {
        name: "people",
        critique: async ({ trajectory }) => ({
          text: "well",
          outcome: trajectory.turns[0]!.action.content.includes("gently") ? "success" : "failure",
        }),
      },
    });
    const feedback = commentMetrics({ comments: 2, metrics: 2, least: 0.8 });
    const signals = await feedback(ctx, { trajectories: attempts, units: [] }, {});
    return signals.map((s) => [s.about[0]!.trajectory, s.kind === "score" ? s.value : Number.NaN]);
  };
  const [good, bad] = [said("good", "opens the box gently"), said("bad", "kicks the tall vase over")];
  assert.deepEqual(await rated([good, bad]), [
    ["good", 1],
    ["bad", -1],
  ]);
  const strange = said("strange", "sings a song of its own for hours");
  assert.deepEqual(await rated([{ ...good, id: "again" }, { ...bad, id: "worse" }, strange]), [
    ["again", 1],
    ["worse", -1],
  ]);
  assert.deepEqual(behavioursOf(good), ["go opens the box gently"]);
});

test("logs: three of ten steps are flaws, and comments blame these and praise the others", () => {
  const all = logs(1, "some", 500);
  const shown = all.reduce((sum, { flaws }) => sum + flaws.length, 0) / (500 * 6);
  assert.ok(Math.abs(shown - 0.3) < 0.03, `${shown}`); // deviation 0.008
  for (const { log, behaviour, sign } of commentsOn(all, 1)) {
    const step = all[log]!.steps.indexOf(behaviour);
    assert.ok(step >= 0);
    assert.equal(sign === -1, all[log]!.flaws.includes(step));
  }
});
