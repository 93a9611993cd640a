import assert from "node:assert/strict";
import { test } from "node:test";
import { teacher } from "../../src/annotate/teacher.ts";
import { hindsightOf } from "../../src/common/tokens/hindsight.ts";
import { environmentText } from "../../src/common/tokens/privilegedContext.ts";
import { concatIds } from "../../src/common/tokens/sequence.ts";
import type { Message, Task, Trajectory, Unit } from "../../src/core/types.ts";
import { vocabularyCodec } from "../../src/engine/tabular/codec.ts";
import { tabularModel } from "../../src/engine/tabular/model.ts";
import { newWeights } from "../../src/engine/tabular/weights.ts";
import { ctxOf, trajectoryOf, turnOf } from "../core/make.ts";

const codec = vocabularyCodec(["go", "left", "right", "wall"]);
const asked: Message = { role: "user", content: "go" };
const task: Task = { id: "task", prompt: [asked], metadata: {}, seed: 0 };

/** Five tokens (end, go, left, right, wall), right twice as likely as each other; left at a third of it once told of a wall. */
const policy = (contextTokens = 64) =>
  tabularModel(
    "policy",
    newWeights(codec, Number.POSITIVE_INFINITY, (context, word) =>
      word === "right" ? Math.log(2) : context.includes("wall") && word === "left" ? -Math.log(3) : 0,
    ),
    contextTokens,
  );

/** Goes one way and then another, in one growing sequence, and hears something about it. */
function walk(id: string, text?: string): Trajectory {
  const opened = codec.open([asked]);
  const [first, second] = [codec.encode("left"), codec.encode("right left")];
  const later = concatIds([opened, first, codec.extend("length", [asked])]);
  const logp = (n: number): Float32Array => new Float32Array(n).fill(-1);
  const reply: Message = { role: "assistant", content: "left" };
  return trajectoryOf(id, [
    turnOf([], [], {
      prompt: [asked],
      action: reply,
      tokens: { prompt: opened, action: first, logp: logp(1), behaviour: logp(1) },
      stop: "length",
      ...(text !== undefined && { text }),
    }),
    turnOf([], [], {
      prompt: [asked, reply, asked],
      tokens: { prompt: later, action: second, logp: logp(2), behaviour: logp(2) },
    }),
  ]);
}
const unitsOf = (...ids: string[]): Unit[] => ids.map((id) => ({ id, group: "task", members: [id] }));
const near = (got: ArrayLike<number>, expected: readonly number[]): void => {
  assert.equal(got.length, expected.length);
  for (const [i, x] of expected.entries())
    assert.ok(Math.abs(got[i]! - x) < 1e-6, `[${i}] ${got[i]}, expected ${x}`);
};

test("the same tokens are read once more with what is told, at the student's likeliest ids", async () => {
  const ctx = ctxOf({ model: () => policy(), task: () => task });
  const trajectories = [walk("a", "wall"), walk("b")];
  const notes = await teacher({ tell: environmentText, topk: 2 })(ctx, {
    trajectories,
    units: unitsOf("a", "b"),
  });
  const own = hindsightOf(notes, "teacher", trajectories[0]!)!;
  // untold, weights 2 + 4 · 1 = 6; told, 2 + 3 · 1 + 1/3 = 16/3. Written: left, right, left
  assert.equal(own.k, 2);
  near(own.written_A, [Math.log(1 / 16), Math.log(3 / 8), Math.log(1 / 16)]);
  // the likeliest two: right, and of equals the lowest id, which is the end
  const [end, right] = [codec.endId, codec.encode("right")[0]!];
  assert.deepEqual([...own.ids_AK], [right, end, right, end, right, end]);
  near(own.student_AK.subarray(0, 2), [Math.log(1 / 3), Math.log(1 / 6)]);
  near(own.teacher_AK.subarray(0, 2), [Math.log(3 / 8), Math.log(3 / 16)]);
  // nothing was said of b
  assert.equal(hindsightOf(notes, "teacher", trajectories[1]!), undefined);
});

test("a frozen teacher may lead with its own ids, and never asks for more than there are", async () => {
  const frozen = await policy().freeze();
  const student = tabularModel("policy", newWeights(codec, Number.POSITIVE_INFINITY), 64);
  const ctx = ctxOf({ model: () => student, frozen: () => frozen, task: () => task });
  const trajectories = [walk("a", "wall")];
  const asks = teacher({ tell: environmentText, by: "old", ids: "teacher", topk: 9, note: "old" });
  const own = hindsightOf(await asks(ctx, { trajectories, units: unitsOf("a") }), "old", trajectories[0]!)!;
  assert.equal(own.k, 5);
  const [right, left] = [codec.encode("right")[0]!, codec.encode("left")[0]!];
  assert.equal(own.ids_AK[0], right);
  assert.equal(own.ids_AK[4], left);
  near(own.student_AK, new Array(15).fill(Math.log(1 / 5)));
  near(own.written_A, [Math.log(1 / 16), Math.log(3 / 8), Math.log(1 / 16)]);
});

test("what is in no unit, failed, or no longer fits has no teacher", async () => {
  const failed: Trajectory = {
    ...walk("failed", "wall"),
    end: { kind: "failed", boundary: "environment", message: "broke" },
  };
  const trajectories = [walk("a", "wall"), walk("apart", "wall"), failed];
  const annotate = teacher({ tell: environmentText });
  const wide = ctxOf({ model: () => policy(), task: () => task });
  const notes = await annotate(wide, { trajectories, units: unitsOf("a", "failed") });
  assert.deepEqual([...notes["teacher.written_A"]!.keys()], ["a"]);
  // told: <user> go end <user> wall end <assistant> left <user>… : 13 tokens, untold 10
  const narrow = ctxOf({ model: () => policy(12), task: () => task });
  const none = await annotate(narrow, { trajectories, units: unitsOf("a") });
  assert.equal(none["teacher.written_A"]!.size, 0);
});

test("who is told nothing new teaches nothing: both sides are one, and what was written is as sampled", async () => {
  const ctx = ctxOf({ model: () => policy(), task: () => task });
  const trajectories = [walk("a", "wall")];
  for (const ids of ["student", "teacher"] as const) {
    const quiet = teacher({ tell: environmentText, place: (messages) => messages, ids, topk: 3 });
    const own = hindsightOf(
      await quiet(ctx, { trajectories, units: unitsOf("a") }),
      "teacher",
      trajectories[0]!,
    )!;
    assert.deepEqual([...own.teacher_AK], [...own.student_AK]);
    near(own.written_A, [Math.log(1 / 6), Math.log(1 / 3), Math.log(1 / 6)]);
  }
});
