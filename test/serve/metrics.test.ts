import assert from "node:assert/strict";
import { test } from "node:test";
import { mintKey } from "../../src/serve/keys.ts";
import { openTrafficStore } from "../../src/store/openTrafficStore.ts";
import { recorder } from "../../src/store/recorder.ts";
import { alwaysHi, wholeServer } from "./wholeServer.ts";

const json = { "content-type": "application/json" };

/** Values by name and labels, as the text format gives them. */
async function measured(url: string): Promise<ReadonlyMap<string, number>> {
  const answer = await fetch(`${url}/metrics`);
  assert.equal(answer.status, 200);
  assert.match(answer.headers.get("content-type") ?? "", /^text\/plain; version=0\.0\.4/);
  const lines = (await answer.text()).split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return new Map(lines.map((line) => line.split(/ (?=\S+$)/)).map(([name, value]) => [name!, Number(value)]));
}

test("metrics count calls by version and status, feedback once, and what is not recorded", async () => {
  const { server, version, close } = await wholeServer(alwaysHi());
  try {
    const post = (path: string, body: unknown) =>
      fetch(`${server.url}${path}`, { method: "POST", headers: json, body: JSON.stringify(body) });
    for (let i = 0; i < 3; i++) {
      await (await post("/v1/chat/completions", { messages: [{ role: "user", content: `${i}` }] })).text();
    }
    await (await post("/v1/embeddings", { input: "x" })).text();
    const session = { kind: "reaction", reaction: "thumbs_up", session: "s", key: "once" };
    assert.equal((await post("/v1/feedback", session)).status, 201);
    assert.equal((await post("/v1/feedback", session)).status, 200);
    const list = await post("/v1/feedback", [{ kind: "comment", text: "good", session: "s" }]);
    assert.equal(list.status, 201, await list.text());
    const now = await measured(server.url);
    assert.equal(now.get(`whetstone_calls_total{version="${version}",status="complete"}`), 3);
    assert.equal(now.get(`whetstone_call_duration_seconds_count{version="${version}"}`), 3);
    assert.equal(now.get(`whetstone_call_duration_seconds_bucket{le="300",version="${version}"}`), 3);
    assert.equal(now.get("whetstone_calls_running"), 0);
    assert.equal(now.get("whetstone_calls_unrecorded"), 1);
    assert.equal(now.get('whetstone_signals_total{kind="reaction"}'), 1);
    assert.equal(now.get('whetstone_signals_total{kind="critique"}'), 1);
    assert.equal(now.get(`whetstone_version_live{version="${version}"}`), 1);
    assert.equal(now.get("whetstone_records_failing"), 0);
    assert.ok((now.get("process_resident_memory_bytes") ?? 0) > 1e6);
  } finally {
    await close();
  }
});

test("where keys are needed, metrics need one that may read; readiness needs none", async () => {
  const { key, secret } = mintKey({ label: "scraper", scopes: ["read"] }, Date.now());
  const chats = mintKey({ label: "app", scopes: ["chat"] }, Date.now());
  const { server, close } = await wholeServer(alwaysHi(), { host: "0.0.0.0" }, async (production) => {
    await production.putKey(key);
    await production.putKey(chats.key);
  });
  try {
    const url = server.url.replace("0.0.0.0", "127.0.0.1");
    const status = async (secret?: string) =>
      (await fetch(`${url}/metrics`, { headers: secret ? { authorization: `Bearer ${secret}` } : {} }))
        .status;
    assert.deepEqual([await status(), await status(chats.secret), await status(secret)], [401, 403, 200]);
    const ready = await fetch(`${url}/readyz`);
    assert.deepEqual([ready.status, await ready.json()], [200, { ready: true }]);
  } finally {
    await close();
  }
});

test("a server whose store cannot be written, or that is closing, is not ready", async () => {
  let failing: "full" | undefined = "full";
  let drain: (() => void) | undefined;
  const waiting = new Promise<void>((resolve) => {
    drain = resolve;
  });
  const hi = alwaysHi();
  const slow = {
    ...hi,
    chat: async (call: Parameters<typeof hi.chat>[0]) => waiting.then(() => hi.chat(call)),
  };
  const production = await openTrafficStore(":memory:");
  const writing = recorder(production);
  const { server, close } = await wholeServer(slow, {
    recorder: { ...writing, state: () => ({ ...writing.state(), ...(failing && { failing }) }) },
    grace: 5000,
  });
  const ready = async () => {
    const answer = await fetch(`${server.url}/readyz`);
    return [answer.status, await answer.json()];
  };
  try {
    assert.deepEqual(await ready(), [503, { ready: false, why: "the store's disk is full" }]);
    failing = undefined;
    assert.deepEqual(await ready(), [200, { ready: true }]);
    const call = fetch(`${server.url}/v1/chat/completions`, {
      method: "POST",
      headers: json,
      body: JSON.stringify({ messages: [{ role: "user", content: "hello" }] }),
    });
    while (server.state().running === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    const closing = server.close();
    assert.equal(server.state().draining, true);
    drain?.();
    assert.equal((await call).status, 200);
    await closing;
  } finally {
    await close();
    await writing.close();
    await production.close();
  }
});
