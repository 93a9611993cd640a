import assert from "node:assert/strict";
import { test } from "node:test";
import type { CritiqueRequest } from "../../src/core/critique.ts";
import { evaluatorIn } from "../../src/core/evaluator.ts";
import { randomStream } from "../../src/core/random.ts";
import { scriptedCritiquer } from "../../src/evaluator/scripted.ts";
import { ctxWith, trajectoryOf, turnOf } from "../core/make.ts";

const t = trajectoryOf("t", [turnOf([1], [2])]);

test("scriptedCritiquer is right as often as it is told, in its own stream, and passes on the detail", async () => {
  const wishes: Partial<CritiqueRequest>[] = [];
  const ctx = ctxWith({
    critique: async (_attempt, wish) => {
      wishes.push(wish);
      return { text: "said" };
    },
  });
  const { critique } = evaluatorIn(ctx, scriptedCritiquer({ accuracy: 0.8, detail: "answer" }));
  for (let i = 0; i < 1000; i++) {
    assert.deepEqual(await critique(t, randomStream(1).split(i)), { text: "said" });
  }
  const right = wishes.filter((w) => w.right).length;
  // 800 expected, a standard deviation of √(1000 · 0.8 · 0.2) = 12.6
  assert.ok(Math.abs(right - 800) < 50, `${right} of 1000`);
  assert.ok(wishes.every((w) => w.detail === "answer"));
  await critique(t, randomStream(1).split(0));
  assert.deepEqual(
    [wishes[1000]!.right, wishes[1000]!.random?.seed],
    [wishes[0]!.right, wishes[0]!.random?.seed],
  );
});

test("scriptedCritiquer: a critique that failed stays silence", async () => {
  const { critique } = evaluatorIn(ctxWith({ critique: async () => undefined }), scriptedCritiquer());
  assert.equal(await critique(t, randomStream(1)), undefined);
});
