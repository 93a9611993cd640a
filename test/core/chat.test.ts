import assert from "node:assert/strict";
import { test } from "node:test";
import { unlessFailed } from "../../src/core/chat.ts";
import { WhetstoneError } from "../../src/core/errors.ts";

const parts = { where: "the provider", got: "nothing", expected: "a reply", fix: "Ask again." };

test("a provider that fails costs an answer; an empty purse, and whatever nobody foresaw, is thrown on", async () => {
  const failed = Promise.reject(new WhetstoneError("chat.failed", parts));
  assert.equal(await failed.catch(unlessFailed), undefined);
  for (const other of [new WhetstoneError("budget.spent", parts), new Error("a slip"), "a text"])
    await assert.rejects(Promise.reject(other).catch(unlessFailed), (e) => e === other);
});
