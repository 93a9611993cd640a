import assert from "node:assert/strict";
import { test } from "node:test";
import { ctxWith, trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import type { Ctx, Helper } from "../../../core/context.ts";
import type { Json } from "../../../core/json.ts";
import { signalValue } from "../../../core/signal.ts";
import type { ComparedExchanges } from "../../../helper/bradleyTerry.ts";
import { listPairs, listwiseScores } from "./listwise.ts";
import { verified, verifiedReward } from "./verifiedReward.ts";

test("right attempts lie above 0 and wrong ones below, in the model's order", () => {
  assert.equal(verified(true, 0, 0.5), 0.5);
  assert.equal(verified(false, 0, 0.5), -0.5);
  assert.ok(Math.abs(verified(true, 2, 0.5) - 1 / (1 + Math.exp(-1))) < 1e-12);
  assert.ok(verified(false, 20, 0.5) < 0 && verified(true, -20, 0.5) > 0);
  assert.ok(verified(false, 1, 0.5) > verified(false, 0, 0.5));
});

test("every list weighs the same, and lists of one kind say nothing", () => {
  const pairs = listPairs([[3, -1, -2], [1, 2], [-1], [5, 6, -7]], (n) => n > 0);
  assert.deepEqual(
    pairs.map(({ right, wrong, weight }) => [right, wrong, weight]),
    [
      [3, -1, 1 / 2],
      [3, -2, 1 / 2],
      [5, -7, 1 / 2],
      [6, -7, 1 / 2],
    ],
  );
});

const attempt = (id: string, task: string, content: string, success: boolean) =>
  trajectoryOf(id, [turnOf([1], [2], { action: { role: "assistant", content } })], {
    task,
    end: { kind: "done", reason: "over", success },
  });

test("the model is fitted to the lists so far, then scores; without a score there is no reward", async () => {
  const fits: string[][] = [];
  const helper: Helper<ComparedExchanges, number | null, number> = {
    async fit(rows) {
      fits.push(
        rows.map(({ x, y, weight }) => `${x.first.replied} > ${x.second?.replied}: ${y} × ${weight}`),
      );
      return {};
    },
    predict: async (xs) => xs.map(({ first }) => (first.replied === "?" ? Number.NaN : 2)),
  };
  const memory = new Map<string, Json>();
  const ctx = ctxWith(
    {},
    {
      // the test's own helper has the types that the piece asks for
      helper: (() => helper) as unknown as Ctx["helper"],
      memory: { get: (key) => memory.get(key), set: (key, value) => void memory.set(key, value) },
    },
  );
  const piece = verifiedReward(listwiseScores(), 0.5);
  const failed = trajectoryOf("f", [turnOf([1], [2])], {
    end: { kind: "failed", boundary: "model", message: "gone" },
  });
  const values = async (...trajectories: ReturnType<typeof attempt>[]) =>
    (await piece(ctx, { trajectories, units: [] }, {})).map((s) => [s.about[0]!.trajectory, signalValue(s)]);
  const high = verified(true, 2, 0.5);
  assert.deepEqual(await values(attempt("a", "t", "x", true), attempt("b", "t", "?", false), failed), [
    ["a", high],
  ]);
  assert.deepEqual(fits[0], ["x > ?: 1 × 1"]);
  await values(attempt("c", "t", "y", false), attempt("d", "u", "z", true), attempt("e", "t", "w", true));
  assert.deepEqual(fits[1], ["x > ?: 1 × 1", "w > y: 1 × 1"]);
});
