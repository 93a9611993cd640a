import assert from "node:assert/strict";
import { test } from "node:test";
import { ctxOf, trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import { concatIds } from "../../../common/tokens/sequence.ts";
import type { Message, Task, Trajectory } from "../../../core/types.ts";
import { vocabularyCodec } from "../../../engine/tabular/codec.ts";
import { tabularModel } from "../../../engine/tabular/model.ts";
import { newWeights } from "../../../engine/tabular/weights.ts";
import { privilegedEvidence } from "./privilegedEvidence.ts";

const codec = vocabularyCodec(["who", "left", "right", "answer", "ann", "nothing"]);
const asked: Message = { role: "user", content: "who" };
const task: Task = { id: "task", prompt: [asked], reference: "ann", metadata: {}, seed: 0 };

/** Seven tokens alike; who knows that it is ann finds left twice as likely as each other. */
const policy = () =>
  tabularModel(
    "policy",
    newWeights(codec, Number.POSITIVE_INFINITY, (context, word) =>
      context.includes("ann") && word === "left" ? Math.log(2) : 0,
    ),
    64,
  );

/** Goes one way after the other, and hears nothing in between. */
function walk(id: string, first: string, second: string): Trajectory {
  const alike = Float32Array.of(Math.log(1 / 7));
  const heard: Message = { role: "user", content: "nothing" };
  const opened = codec.open([asked]);
  const action = codec.encode(first);
  const later = concatIds([opened, action, codec.extend("length", [heard])]);
  const tokens = (prompt: Int32Array, said: string) => ({
    prompt,
    action: codec.encode(said),
    logp: alike,
    behaviour: alike,
  });
  const reply: Message = { role: "assistant", content: first };
  return trajectoryOf(id, [
    turnOf([], [], { prompt: [asked], action: reply, tokens: tokens(opened, first), stop: "length" }),
    turnOf([], [], { prompt: [asked, reply, heard], tokens: tokens(later, second) }),
  ]);
}

test("privilegedEvidence is the told policy's gain on the same action tokens, turn by turn", async () => {
  const ctx = ctxOf({ model: policy, task: () => task });
  const trajectories = [walk("a", "left", "right")];
  const { evidence } = await privilegedEvidence()(ctx, { trajectories, units: [] });
  // told: left 2/8 and right 1/8, untold 1/7 each
  const got = evidence!.get("a")!;
  assert.ok(Math.abs(got[0]! - Math.log(2 / 8 / (1 / 7))) < 1e-6);
  assert.ok(Math.abs(got[1]! - Math.log(1 / 8 / (1 / 7))) < 1e-6);
});

test("privilegedEvidence: what is told is the caller's; who is told nothing new finds no evidence", async () => {
  const ctx = ctxOf({ model: policy, task: () => task });
  const quiet = privilegedEvidence({ tell: (messages) => messages });
  const { evidence } = await quiet(ctx, { trajectories: [walk("a", "left", "right")], units: [] });
  for (const e of evidence!.get("a")!) assert.ok(Math.abs(e) < 1e-6);
  const { reference: _, ...bare } = task;
  const without = ctxOf({ model: policy, task: () => bare });
  await assert.rejects(
    privilegedEvidence()(without, { trajectories: [walk("a", "left", "right")], units: [] }),
    /without a reference/,
  );
});
