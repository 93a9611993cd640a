import assert from "node:assert/strict";
import { test } from "node:test";
import { makeEngine } from "../../src/cli/catalogue.ts";
import { serverEngine } from "../../src/cli/tinker.ts";
import { withCode } from "../train/world.ts";

test("what is missing for a server is named, and no key is told", async () => {
  const url = "http://127.0.0.1:1";
  await assert.rejects(
    makeEngine("tinker", { url }),
    withCode("option.range", /no --base-model, no --tokenizer/),
  );
  const told = { url, baseModel: "tiny", tokenizer: "nowhere" };
  await assert.rejects(
    serverEngine({ ...told, keyEnv: "NO_SUCH_KEY" }),
    withCode("option.range", /NO_SUCH_KEY/),
  );
  await assert.rejects(serverEngine(told), withCode("checkpoint.damaged", /nowhere/));
});

test("each engine refuses what it cannot be told, by its flag", async () => {
  await assert.rejects(
    makeEngine("local", { baseModel: "tiny" }),
    withCode("option.unknown", /--base-model.*tinker/),
  );
  await assert.rejects(makeEngine("tinker", { model: "x" }), withCode("option.unknown", /--model.*local/));
  await assert.rejects(makeEngine("tabular", { threads: 2 }), withCode("option.unknown", /--threads.*local/));
  await assert.rejects(makeEngine("tinker", { lora: { rank: 4 } }), withCode("option.unknown", /but a rank/));
});
