import assert from "node:assert/strict";
import { test } from "node:test";
import { ctxOf, trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import { concatIds } from "../../../common/tokens/sequence.ts";
import type { Message, Trajectory, Turn } from "../../../core/types.ts";
import { vocabularyCodec } from "../../../engine/tabular/codec.ts";
import { tabularModel } from "../../../engine/tabular/model.ts";
import { newWeights } from "../../../engine/tabular/weights.ts";
import { fromAnnotation } from "../../../feedback/fromAnnotation.ts";
import { replyInfluence } from "./replyInfluence.ts";

const codec = vocabularyCodec(["who", "clue", "ask", "ann"]);
const said = (content: string): Message => ({ role: "user", content });

/** Says ann with probability 3/7 after the clue, and 1/5 like each other word before it. */
const policy = () =>
  tabularModel(
    "policy",
    newWeights(codec, "message", (context, word) =>
      context.includes("clue") && word === "ann" ? Math.log(3) : 0,
    ),
    64,
  );

/** Asks, gets the reply, says ann; log-probabilities as the policy gives them. */
function asking(id: string, reply: string, p: number): Trajectory {
  const first = [said("who")];
  const opened = codec.open(first);
  const ask = concatIds([codec.encode("ask"), Int32Array.of(codec.endId)]);
  const then = concatIds([opened, ask, codec.extend("eos", [said(reply)])]);
  const prompt: Message[] = [...first, { role: "assistant", content: "ask" }, said(reply)];
  const logp = Float32Array.of(Math.log(p));
  const second: Partial<Turn> = {
    prompt,
    tokens: { prompt: then, action: codec.encode("ann"), logp, behaviour: logp },
  };
  return trajectoryOf(id, [turnOf([...opened], [...ask], { prompt: first }), turnOf([], [], second)]);
}

test("replyInfluence is the next action's gain in log-probability, on the turn that asked", async () => {
  const trajectories = [asking("a", "clue", 3 / 7), asking("b", "who", 1 / 5), asking("c", "", 1 / 5)];
  const ctx = ctxOf({ model: policy });
  const { influence } = await replyInfluence()(ctx, { trajectories, units: [] });
  // the words and the end: five to choose from, of which ann counts three after the clue
  assert.ok(Math.abs(influence!.get("a")![0]! - Math.log(3 / 7 / (1 / 5))) < 1e-6);
  assert.ok(Math.abs(influence!.get("b")![0]!) < 1e-6);
  // an empty reply has no influence to speak of, and nothing follows a last turn
  for (const nothing of [influence!.get("a")![1], ...influence!.get("c")!]) assert.ok(Number.isNaN(nothing));
  const signals = await fromAnnotation({ note: "influence" })(
    ctx,
    { trajectories, units: [] },
    { influence: influence! },
  );
  assert.deepEqual(
    signals.map((s) => s.about),
    [[{ trajectory: "a", turn: 0 }], [{ trajectory: "b", turn: 0 }]],
  );
});

test("replyInfluence takes what a caller puts in the reply's place", async () => {
  const clue = replyInfluence({ placeholder: () => "clue" });
  const { influence } = await clue(ctxOf({ model: policy }), {
    trajectories: [asking("a", "clue", 3 / 7)],
    units: [],
  });
  assert.ok(Math.abs(influence!.get("a")![0]!) < 1e-6);
});
