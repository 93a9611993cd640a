import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fuzz } from "../../bench/fuzz/fuzz.ts";
import { malformed } from "../../bench/fuzz/requests.ts";
import { randomStream } from "../../src/core/random.ts";
import { type Answerer, liveVersions, serveProduction, versionOf } from "../../src/serve/gateway/index.ts";
import { openProduction, recorder } from "../../src/store/index.ts";

const answer = JSON.stringify({
  id: "x",
  object: "chat.completion",
  choices: [{ index: 0, message: { role: "assistant", content: "hi" }, finish_reason: "stop" }],
});
const answerer: Answerer = {
  chat: async () => ({
    status: 200,
    headers: { "content-type": "application/json" },
    body: (async function* () {
      yield new TextEncoder().encode(answer);
    })(),
  }),
  models: async () => ["m"],
  async close() {},
};

test("equal seeds make equal requests", () => {
  const made = (seed: number) =>
    Array.from({ length: 50 }, (_, n) => malformed(randomStream(seed), n)).map(({ pieces }) =>
      Buffer.concat(pieces).toString("base64"),
    );
  assert.deepEqual(made(1), made(1));
  assert.notDeepEqual(made(1), made(2));
});

test("two thousand malformed requests: no crash, no hang, no 500, and good ones are answered in between", async () => {
  const folder = mkdtempSync(join(tmpdir(), "whetstone-fuzz-"));
  const production = await openProduction(join(folder, "fuzz.sqlite"));
  const writing = recorder(production);
  await production.addVersion(versionOf({ kind: "local", name: "m" }, 1));
  const versions = await liveVersions({ production, open: async () => answerer });
  const log: string[] = [];
  const server = await serveProduction({
    production,
    recorder: writing,
    versions,
    signing: new Uint8Array(32),
    log: (line) => log.push(line),
    grace: 100,
  });
  try {
    const port = Number(new URL(server.url).port);
    const result = await fuzz({ port, requests: 2000, seed: 1 });
    assert.deepEqual([result.hangs, result.failures, result.wronged], [[], [], []], log.slice(-5).join("\n"));
    assert.equal(result.good, 120);
    assert.equal(
      [...result.answers.values()].flatMap((m) => [...m.values()]).reduce((a, b) => a + b),
      2000,
    );
  } finally {
    await server.close();
    await versions.close();
    await writing.close();
    await production.close();
    rmSync(folder, { recursive: true });
  }
});
