import assert from "node:assert/strict";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { pairRows } from "../../../src/common/tokens/pack.ts";
import type { Model } from "../../../src/core/model.ts";
import type { Message } from "../../../src/core/types.ts";
import { vocabularyCodec } from "../../../src/engine/tabular/codec.ts";
import { type Reading, tabularEngine } from "../../../src/engine/tabular/engine.ts";
import { tabularModel } from "../../../src/engine/tabular/model.ts";
import { newWeights } from "../../../src/engine/tabular/weights.ts";
import { likelihood } from "../../../src/objective/likelihood.ts";
import { batchOfRows, ctxOf } from "../../core/make.ts";

/** "not b" takes ln 4 from the logit of b, as the first word of a reply only. */
const reading: Reading = {
  isRead: (message) => message.startsWith("not "),
  shift: (told, reply, word) =>
    reply.length === 0 && told.some((message) => message === `not ${word}`) ? -Math.log(4) : 0,
};
const engine = tabularEngine({ context: "message", reading });
const make = (): Promise<Model> =>
  engine.create({ id: "policy", seed: 1, vocabulary: ["a b c", "not", "say"], contextTokens: 32 });

const user = (content: string): Message => ({ role: "user", content });
const assistant = (content: string): Message => ({ role: "assistant", content });
const plain = [user("say")];
const told = [user("say"), user("not b")];

/** Probabilities of each token of a reply. */
async function chances(model: Pick<Model, "codec" | "score">, prompt: readonly Message[], reply: string) {
  const rows = pairRows([{ prompt: model.codec.open(prompt), target: model.codec.encode(reply) }]);
  return Array.from((await model.score(rows)).logp, Math.exp);
}
const near = (got: readonly number[], expected: readonly number[]): void => {
  assert.equal(got.length, expected.length);
  for (const [i, x] of got.entries())
    assert.ok(Math.abs(x - expected[i]!) < 1e-6, `[${i}] ${x}, expected ${expected[i]}`);
};

/** A step up the likelihood of replying "b" to these messages. */
async function learn(model: Model, prompt: readonly Message[], learningRate: number): Promise<void> {
  const rows = pairRows([{ prompt: model.codec.open(prompt), target: model.codec.encode("b") }]);
  const batch = { ...batchOfRows([{ behaviour: [-1], advantage: [1] }]), ...rows };
  const objective = likelihood();
  await model.accumulate(batch, objective, await objective.prepare(ctxOf({}), batch));
  await model.step({ learningRate, optimiser: "sgd" });
}

test("a message told shifts the logits of the context it stands in", async () => {
  const model = await make();
  // six words are writable: end, a, b, c, not, say. Told: e^(−ln 4) = 1/4 beside five ones, 5.25 in all
  near(await chances(model, plain, "b"), [1 / 6]);
  near(await chances(model, told, "b"), [0.25 / 5.25]);
  near(await chances(model, told, "a"), [1 / 5.25]);
  // the shift is for the first word alone
  near(await chances(model, told, "a b"), [1 / 5.25, 1 / 6]);
  // wherever it stands, and whoever says it but the policy itself
  near(await chances(model, [{ role: "system", content: "not b" }, ...plain], "b"), [0.25 / 5.25]);
  near(await chances(model, [user("say"), assistant("not b"), user("say")], "b"), [1 / 6]);
});

test("what is learnt with a message and without it is one table", async () => {
  const model = await make();
  await learn(model, plain, 1);
  // z(b) rises by 1 − 1/6, the other five fall by 1/6: odds of b against a, e
  near([(await chances(model, plain, "b"))[0]! / (await chances(model, plain, "a"))[0]!], [Math.E]);
  near([(await chances(model, told, "b"))[0]! / (await chances(model, told, "a"))[0]!], [Math.E / 4]);
  const other = await make();
  await learn(other, told, 1);
  // told, p(a) = 1/5.25 and p(b) = 0.25/5.25: z(b) − z(a) rises by (1 − p(b)) + p(a) = 1 + 0.75/5.25 = 8/7
  near([(await chances(other, plain, "b"))[0]! / (await chances(other, plain, "a"))[0]!], [Math.exp(8 / 7)]);
});

test("gradients under a message told are slopes", async () => {
  const weights = newWeights(
    vocabularyCodec(["a b c", "not", "say"]),
    "message",
    undefined,
    new Map(),
    reading,
  );
  const model = tabularModel("policy", weights, 32);
  const rows = pairRows([
    { prompt: model.codec.open(told), target: model.codec.encode("b c") },
    { prompt: model.codec.open(plain), target: model.codec.encode("b") },
  ]);
  const batch = {
    ...batchOfRows([
      { behaviour: [0, 0], advantage: [0, 0] },
      { behaviour: [0], advantage: [0] },
    ]),
    ...rows,
  };
  const objective = likelihood();
  await model.accumulate(batch, objective, await objective.prepare(ctxOf({}), batch));
  const loss = async (): Promise<number> => -(await model.score(rows)).logp.reduce((a, b) => a + b, 0) / 3;
  const table = weights.part("logits");
  const slope = table.array("gradient.main").slice();
  const numbers = table.array("weights");
  for (let i = 0; i < numbers.length; i++) {
    const h = 1e-2;
    const moved = async (d: number): Promise<number> => {
      numbers[i]! += d;
      weights.changed();
      const at = await loss();
      numbers[i]! -= d;
      return at;
    };
    const expected = ((await moved(h)) - (await moved(-h))) / (2 * h);
    assert.ok(Math.abs(slope[i]! - expected) < 1e-4, `[${i}] ${slope[i]}, expected ${expected}`);
  }
});

test("copies and checkpoints read as the model does", async () => {
  const model = await make();
  await learn(model, plain, 1);
  const expected = await chances(model, told, "b");
  near(await chances(await model.freeze(), told, "b"), expected);
  near(await chances(await model.fork("copy"), told, "b"), expected);
  const folder = mkdtempSync(join(tmpdir(), "whetstone-"));
  await model.save(folder);
  near(await chances(await engine.open("policy", folder), told, "b"), expected);
  const [sample] = await model.sample([{ prompt: model.codec.open(told), maxTokens: 1, seed: 3 }]);
  near(Array.from(sample!.logp, Math.exp), await chances(model, told, model.codec.decode(sample!.action)));
});

test("what is told may concern one context alone", async () => {
  const placed = tabularEngine({
    context: "message",
    reading: {
      isRead: reading.isRead,
      shift: (_told, _reply, word, context) => (word === "b" && context.includes("a") ? -Math.log(4) : 0),
    },
  });
  const model = await placed.create({
    id: "policy",
    seed: 1,
    vocabulary: ["a b c", "not", "say"],
    contextTokens: 32,
  });
  near(await chances(model, [user("a"), user("not b")], "b"), [0.25 / 5.25]);
  near(await chances(model, [user("c"), user("not b")], "b"), [1 / 6]);
});

test("a message that was replied to is read with its reply, and is no context; the one that is replied to now is context", async () => {
  const copying = tabularEngine({
    context: "message",
    reading: {
      isRead: () => false,
      replied: (message) => message.startsWith("say"),
      shift: (heard, _reply, word) => (heard.includes(`say a → ${word}`) ? Math.log(4) : 0),
    },
  });
  const model = await copying.create({
    id: "policy",
    seed: 1,
    vocabulary: ["a b c", "not", "say"],
    contextTokens: 32,
  });
  const shown = [user("say a"), assistant("b")];
  // what is added to a logit multiplies the odds: by 4
  const [before] = await chances(model, [user("say a")], "b");
  const [after] = await chances(model, [...shown, user("say a")], "b");
  near([after! / (1 - after!)], [(4 * before!) / (1 - before!)]);
  near(await chances(model, [user("not"), assistant("b"), user("say a")], "b"), [before!]);
});
