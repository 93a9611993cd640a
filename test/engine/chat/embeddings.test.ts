import assert from "node:assert/strict";
import { test } from "node:test";
import { MockEmbeddingModelV4 } from "ai/test";
import { isWhetstoneError } from "../../../src/core/errors.ts";
import { budget } from "../../../src/engine/chat/budget.ts";
import { providerEncoder } from "../../../src/engine/chat/embeddings.ts";

/** Takes three texts a call: the length of a text, and 4 for a second number. */
const provider = (fails = false) =>
  new MockEmbeddingModelV4({
    provider: "mock",
    modelId: "lengths",
    maxEmbeddingsPerCall: 3,
    doEmbed: async ({ values }) => {
      if (fails) throw new Error("no such model");
      const embeddings = values.map((text) => [text.length, 4]);
      return { embeddings, usage: { tokens: 10 * values.length }, warnings: [] };
    },
  });

test("vectors of length 1, in order, over as many calls as it takes, and what they cost", async () => {
  const purse = budget();
  const model = provider();
  const encoder = providerEncoder({ model, width: 2, price: 2, budget: purse });
  assert.equal(encoder.id, "mock/lengths/2");
  const made = await encoder.embed(["abc", "", "abc", "abc"]);
  // (3, 4) / 5 and (0, 4) / 4
  const [a, b] = [Float32Array.of(0.6, 0.8), Float32Array.of(0, 1)];
  assert.deepEqual(made, [a, b, a, a]);
  assert.equal(model.doEmbedCalls.length, 2);
  // 40 tokens at 2 dollars a million
  assert.equal(purse.spent().inputTokens, 40);
  assert.ok(Math.abs(purse.spent().usd - 80e-6) < 1e-12);
  assert.deepEqual(await encoder.embed([]), []);
});

test("an empty purse, a failing provider and vectors of another width are said clearly", async () => {
  const model = provider();
  const poor = providerEncoder({ model, width: 2, budget: budget({ tokens: 3 }) });
  await assert.rejects(poor.embed(["a long text"]), (e) => isWhetstoneError(e) && e.code === "budget.spent");
  assert.equal(model.doEmbedCalls.length, 0);
  const broken = providerEncoder({ model: provider(true), width: 2, retries: 0 });
  await assert.rejects(
    broken.embed(["a"]),
    (e) => isWhetstoneError(e) && e.code === "chat.failed" && /no such model/.test(e.message),
  );
  await assert.rejects(
    providerEncoder({ model, width: 3 }).embed(["a"]),
    (e) => isWhetstoneError(e) && /vectors of 2 numbers.*expected 3/s.test(e.message),
  );
});
