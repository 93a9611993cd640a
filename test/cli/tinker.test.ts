import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { makeEngine } from "../../src/cli/catalogue.ts";
import { serverEngine } from "../../src/cli/tinker.ts";
import { temporary } from "../temporary.ts";
import { withCode } from "../train/world.ts";
import { inProcess } from "./inProcess.ts";

test("what is missing for a server is named, and no key is told", async () => {
  const url = "http://127.0.0.1:1";
  await assert.rejects(
    makeEngine("tinker", { url }),
    withCode("option.range", /no --base-model, no --tokenizer/),
  );
  const told = { url, baseModel: "tiny", tokenizer: temporary };
  await assert.rejects(serverEngine(told), withCode("option.range", /--tokenizer.*has no tokenizer\.json/));
  const folder = mkdtempSync(join(temporary, "whetstone-tokenizer-"));
  after(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, "tokenizer.json"), "{");
  const beside = { ...told, tokenizer: folder };
  await assert.rejects(
    serverEngine({ ...beside, keyEnv: "NO_SUCH_KEY" }),
    withCode("option.range", /NO_SUCH_KEY/),
  );
  await assert.rejects(serverEngine(beside), withCode("checkpoint.damaged", /tokenizer\.json/));
});

test("each engine refuses what it cannot be told, by its flag", async () => {
  await assert.rejects(
    makeEngine("local", { baseModel: "tiny" }),
    withCode("option.unknown", /--base-model.*tinker/),
  );
  await assert.rejects(makeEngine("tinker", { model: "x" }), withCode("option.unknown", /--model.*local/));
  await assert.rejects(makeEngine("tabular", { threads: 2 }), withCode("option.unknown", /--threads.*local/));
  await assert.rejects(
    makeEngine("tinker", { lora: { rank: 4 } }),
    withCode("option.unknown", /only takes a rank/),
  );
});

test("a key that was named and is not there is not left out", async () => {
  const served = await inProcess(["serve", "--tinker", "--port", "0", "--key-env", "NO_SUCH_KEY"]);
  assert.equal(served.code, 2);
  assert.match(served.err, /--key-env: got NO_SUCH_KEY, which is not set/);
});

test("a folder that cannot be made is named, with the flag that asked for it", async () => {
  const file = join(mkdtempSync(join(temporary, "whetstone-folder-")), "file");
  after(() => rmSync(dirname(file), { recursive: true, force: true }));
  writeFileSync(file, "");
  const served = await inProcess(["serve", "--tinker", "--port", "0", "--checkpoints", join(file, "in")]);
  assert.equal(served.code, 1);
  assert.match(served.err, /^whetstone: .*file\/in: got ENOTDIR.*Choose another folder with --checkpoints/);
});
