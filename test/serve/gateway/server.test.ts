import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { versionOf } from "../../../src/serve/gateway/open.ts";
import { serveProduction } from "../../../src/serve/gateway/server.ts";
import { upstream } from "../../../src/serve/gateway/upstream.ts";
import { liveVersions } from "../../../src/serve/gateway/versions.ts";
import { openTrafficStore } from "../../../src/store/openTrafficStore.ts";
import { recorder } from "../../../src/store/recorder.ts";
import { scripted } from "./world.ts";

test("a call that is broken off by the end of its time of grace is recorded before the server has closed", async () => {
  const folder = await mkdtemp(join(tmpdir(), "whetstone-server-"));
  const chunk = { choices: [{ index: 0, delta: { content: "so far" } }] };
  const silent = await scripted((_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(`data: ${JSON.stringify(chunk)}\n\n`);
  });
  const production = await openTrafficStore(join(folder, "store.sqlite"));
  const writing = recorder(production);
  const version = versionOf({ kind: "upstream", url: silent.url }, 0);
  await production.addVersion(version);
  const versions = await liveVersions({
    production,
    open: async () => upstream({ url: silent.url }),
    main: version.id,
  });
  const signing = new Uint8Array(32);
  const server = await serveProduction({ production, recorder: writing, versions, signing, grace: 50 });
  const answer = await fetch(`${server.url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ messages: [{ role: "user", content: "hello" }], stream: true }),
  });
  const broken = assert.rejects(answer.text());
  await server.close();
  await broken;
  const { calls, cut, running } = server.state();
  assert.deepEqual([calls, cut, running], [1, 1, 0]);
  const [first] = await production.sessions();
  assert.equal(first?.responses, 1);
  for await (const { status, choices } of production.responses()) {
    assert.deepEqual([status, choices[0]?.message.content], ["cut", "so far"]);
  }
  await versions.close();
  await production.close();
  await silent.close();
  await rm(folder, { recursive: true });
});
