import assert from "node:assert/strict";
import { test } from "node:test";
import { mean } from "../../src/common/statistics/statistics.ts";
import type { TrainingExample } from "../../src/core/trainingExamples.ts";
import { vocabularyCodec } from "../../src/engine/tabular/codec.ts";
import { cispo } from "../../src/methods/baseline/cispo/method.ts";
import { dpo } from "../../src/methods/baseline/dpo/method.ts";
import { kto } from "../../src/methods/baseline/kto/method.ts";
import { sft } from "../../src/methods/baseline/sft/method.ts";
import { examplesFor } from "../../src/train/fromExamples.ts";
import { ask, learn, nowhere, reply, task, verdict } from "./examples.ts";

const pairs: readonly TrainingExample[] = ["red", "blue"].map((question) => ({
  kind: "pair",
  id: question,
  task: task(question),
  from: nowhere,
  channel: "correction",
  source: "user",
  chosen: reply(`${question}/chosen`, question, "stop now"),
  rejected: reply(`${question}/rejected`, question, "go on"),
  strength: 1,
}));

test("corrections as pairs: dpo makes the correction likelier than the reply that it corrects", async () => {
  const { before, after, done } = await learn(dpo, pairs, "red", ["stop now", "go on"]);
  // a fresh table gives both the same
  assert.ok(Math.abs(before[0]! - before[1]!) < 1e-6);
  assert.ok(after[0]! - after[1]! > 1, `${after}`);
  assert.ok(after[0]! > before[0]! && after[1]! < before[1]!);
  assert.equal(done.counters.episodes, undefined); // nothing was played
});

test("demonstrations: sft makes what was shown likely", async () => {
  const shown: readonly TrainingExample[] = [
    {
      kind: "demonstration",
      id: "d",
      task: task("red"),
      from: nowhere,
      source: "user",
      shown: reply("d", "red", "stop now"),
    },
  ];
  const { before, after } = await learn(sft, shown, "red", ["stop now"]);
  assert.ok(after[0]! > before[0]! + 1, `${before} ${after}`);
});

test("pairs and ratings: sft imitates what was preferred or called good, and nothing else", async () => {
  const said = ["stop now", "go on"];
  const ofPairs = await learn(sft, pairs, "red", said, { kind: "pair" });
  assert.ok(ofPairs.after[0]! > ofPairs.before[0]! + 1, `${ofPairs.after}`);
  assert.ok(ofPairs.after[1]! < ofPairs.before[1]!, `${ofPairs.after}`);
  const ratings = [verdict("up", "stop now", true), verdict("down", "go on", false)];
  const ofRatings = await learn(sft, ratings, "red", said, { kind: "rating" });
  assert.ok(ofRatings.after[0]! > ofRatings.before[0]! + 1, `${ofRatings.after}`);
  assert.ok(ofRatings.after[1]! < ofRatings.before[1]!, `${ofRatings.after}`);
});

test("what imitates takes the likelier side of a pair, nothing of an even one, and each reply once", () => {
  const [pair] = pairs;
  if (pair?.kind !== "pair") throw new Error("no pair");
  const shown = (...examples: readonly TrainingExample[]) =>
    examplesFor(sft.build(), examples).map(
      (e) => e.kind === "demonstration" && e.shown.turns[0]!.action.content,
    );
  assert.deepEqual(shown(pair, { ...pair, id: "again" }), ["stop now"]);
  assert.deepEqual(shown({ ...pair, strength: 0.1 }), ["go on"]);
  assert.deepEqual(shown({ ...pair, strength: 0.5 }), []);
  assert.deepEqual(examplesFor(dpo.build(), [pair, pair]), [pair, pair]);
});

test("examples of a kind that the method does not learn from are not trained on in silence", async () => {
  await assert.rejects(learn(sft, pairs, "red", []), {
    code: "task.none",
    message: /none of which has an example/,
  });
});

test("ratings: kto makes what was called good likelier, and what was called bad less likely", async () => {
  const ratings = [verdict("up", "stop now", true), verdict("down", "go on", false)];
  const { before, after } = await learn(kto, ratings, "red", ["stop now", "go on"]);
  assert.ok(after[0]! > before[0]! && after[1]! < before[1]!, `${before} ${after}`);
});

/** A conversation whose reply was drawn with probability `p`, and what it was worth to whoever asked. */
function conversation(
  id: string,
  text: string,
  p: number,
  value: number,
  words: readonly string[],
): TrainingExample {
  const codec = vocabularyCodec(words);
  const action = Int32Array.from([...codec.encode(text), codec.endId]);
  const logp = new Float32Array(action.length);
  logp[0] = Math.log(p);
  const tokens = { prompt: codec.open(ask("red")), action, logp, behaviour: logp };
  return {
    kind: "conversation",
    id,
    task: task("red"),
    from: nowhere,
    logged: {
      trajectory: reply(id, "red", text, tokens),
      session: "s",
      responses: [id],
      propensities: [1],
      signals: [{ kind: "reward", channel: "sale", source: "shop", about: [{ trajectory: id }], value }],
      exposures: [],
    },
  };
}
const words = ["red", "stop", "go"];

test("logged rewards: off-policy gradients weigh each reply by its recorded probability", async () => {
  const examples = [conversation("a", "stop", 0.5, 1, words), conversation("b", "go", 0.5, 0, words)];
  const { before, after, done } = await learn(cispo, examples, "red", ["stop", "go"]);
  assert.ok(after[0]! > before[0]! && after[1]! < before[1]!, `${before} ${after}`);
  // V: the end token and 3 words can be written, 1/4 each; the end is certain in the log and 1/4 now
  // ratios: (1/4)/0.5 = 0.5 and (1/4)/1 = 0.25, mean 0.375
  assert.ok(Math.abs(done.curve[0]!["policyGradient.ratio"]! - 0.375) < 1e-5, JSON.stringify(done.curve[0]));
  assert.equal(done.curve[0]!["policyGradient.unknown"], 0);
});

test("what was not recorded as this policy's tokens is left out of conversations, and counted", async () => {
  const other = conversation("b", "go", 0.5, 0, ["a", "b", "c", "d", "go", "red"]);
  const bare = conversation("c", "stop", 0.5, 1, words);
  const textOnly: TrainingExample = {
    ...bare,
    ...(bare.kind === "conversation" && {
      logged: { ...bare.logged, trajectory: reply("c", "red", "stop") },
    }),
  };
  const examples = [conversation("a", "stop", 0.5, 1, words), other, textOnly];
  const { done } = await learn(cispo, examples, "red", []);
  assert.equal(mean(done.curve.map((m) => m.examples!)), 3);
  assert.ok(Math.abs(done.curve[0]!.unfit! - 2 / 3) < 1e-12);
});

test("which examples suit a method: those that it declares, else conversations", () => {
  assert.deepEqual(
    [dpo, sft, kto, cispo].map((recipe) => recipe.build().learnsFrom?.kind),
    ["pair", "demonstration", "rating", undefined],
  );
});
