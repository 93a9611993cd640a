/** Versions in an order, and calls that are sent again: who is asked, how often, with whose key and which model. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Answerer } from "../../../src/serve/gateway/answerer.ts";
import { firstOf, waitBefore } from "../../../src/serve/gateway/firstOf.ts";
import { openVersion, orderOf, versionOf } from "../../../src/serve/gateway/open.ts";
import { type UpstreamOptions, upstream } from "../../../src/serve/gateway/upstream.ts";
import { liveVersions } from "../../../src/serve/gateway/versions.ts";
import { scripted, type Upstream, world } from "./world.ts";

const body = { model: "asked", messages: [{ role: "user", content: "hello" }] };

/** An upstream that gives these statuses in turn, the last one for ever. */
async function giving(
  ...statuses: readonly number[]
): Promise<Upstream & { as(options?: Partial<UpstreamOptions>): Answerer }> {
  let n = 0;
  const there = await scripted((_, response) => {
    const status = statuses[Math.min(n++, statuses.length - 1)]!;
    const message = { role: "assistant", content: "hi" };
    const answer = { id: "x", choices: [{ index: 0, message, finish_reason: "stop" }] };
    response.writeHead(status, { "content-type": "application/json", "retry-after-ms": "1" });
    response.end(JSON.stringify(status === 200 ? answer : { error: { message: `no: ${status}` } }));
  });
  return { ...there, as: (options = {}) => upstream({ url: there.url, ...options }) };
}

/** A call through a gateway in front of the order. */
async function asked(
  order: Readonly<Record<string, Answerer>>,
  headers: Readonly<Record<string, string>> = {},
) {
  const members = Object.entries(order).map(([version, answerer]) => ({ version, answerer }));
  const gateway = await world({ order: firstOf(members) });
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
  await response.text();
  const [record] = await gateway.recorded(1);
  await gateway.close();
  return { status: response.status, record: record! };
}

for (const status of [429, 503, 529]) {
  test(`${status} is a refusal: the next version answers, and the record says which one did`, async () => {
    const [first, second] = [await giving(status), await giving(200)];
    const { status: got, record } = await asked({ a: first.as(), b: second.as() });
    assert.equal(got, 200);
    assert.equal(record.version, "order");
    assert.equal(record.tags["whetstone.answered"], "b");
    assert.deepEqual([first.asked.length, second.asked.length], [1, 1]);
    await Promise.all([first.close(), second.close()]);
  });
}

for (const status of [500, 502, 504]) {
  test(`${status} may have cost something: the next version is asked only with an Idempotency-Key`, async () => {
    const [first, second] = [await giving(status), await giving(200)];
    const once = await asked({ a: first.as(), b: second.as() });
    assert.equal(once.status, status);
    assert.equal(second.asked.length, 0);
    const twice = await asked({ a: first.as(), b: second.as() }, { "idempotency-key": "k-1" });
    assert.equal(twice.status, 200);
    assert.equal(second.headers[0]!["idempotency-key"], "k-1");
    await Promise.all([first.close(), second.close()]);
  });
}

test("a refusal that never ends keeps nobody from the next version, and gives its connection back", async () => {
  let open = 0;
  const dripping = await scripted((_, response) => {
    open++;
    response.on("close", () => open--);
    response.writeHead(429, { "content-type": "application/json", "retry-after-ms": "1" }).write("{");
  });
  const good = await giving(200);
  const first = upstream({ url: dripping.url, retries: 1 });
  const begun = performance.now();
  assert.equal((await asked({ a: first, b: good.as() })).status, 200);
  assert.ok(performance.now() - begun < 5000);
  assert.equal(dripping.asked.length, 2);
  while (open > 0) await new Promise((resolve) => setTimeout(resolve, 10));
  await Promise.all([dripping.close(), good.close()]);
});

test("a wrong request is answered by the first alone, and the last one's refusal is the answer", async () => {
  const [wrong, busy, good] = [await giving(400), await giving(429), await giving(200)];
  assert.equal((await asked({ a: wrong.as(), b: good.as() })).status, 400);
  assert.equal(good.asked.length, 0);
  const { status, record } = await asked({ a: busy.as(), b: busy.as() });
  assert.equal(status, 429);
  assert.equal(record.status, "failed");
  await Promise.all([wrong.close(), busy.close(), good.close()]);
});

test("a server that is not there was sent nothing: the next version answers", async () => {
  const [gone, good] = [await giving(200), await giving(200)];
  await gone.close();
  assert.equal((await asked({ a: gone.as(), b: good.as() })).status, 200);
  await good.close();
});

test("a time-out may have cost something: without an Idempotency-Key it is the end", async () => {
  const slow = await scripted(() => undefined);
  const good = await giving(200);
  const order = () => ({ a: upstream({ url: slow.url, patience: 300 }), b: good.as() });
  assert.equal((await asked(order())).status, 502);
  assert.equal(good.asked.length, 0);
  assert.equal((await asked(order(), { "idempotency-key": "k" })).status, 200);
  await Promise.all([slow.close(), good.close()]);
});

test("the client's key reaches only the member that would get it by itself; each is asked for its own model", async () => {
  const [theirs, ours, keyless] = [await giving(429), await giving(429), await giving(200)];
  const key = "sk-of-the-client";
  const { status } = await asked(
    {
      a: theirs.as({ clientKeys: true }),
      b: ours.as({ key: "sk-of-the-operator", model: "other" }),
      c: keyless.as(),
    },
    { authorization: `Bearer ${key}`, "x-api-key": key, "openai-organization": "org" },
  );
  assert.equal(status, 200);
  assert.equal(theirs.headers[0]!.authorization, `Bearer ${key}`);
  assert.equal(ours.headers[0]!.authorization, "Bearer sk-of-the-operator");
  for (const { headers } of [ours, keyless]) assert.ok(!JSON.stringify(headers).includes(key));
  assert.ok(!JSON.stringify(keyless.headers).includes("org"));
  assert.deepEqual(
    [theirs, ours, keyless].map(({ asked }) => asked[0]!.model),
    ["asked", "other", "asked"],
  );
  await Promise.all([theirs.close(), ours.close(), keyless.close()]);
});

test("retries: a refusal is repeated as often as allowed, a failure only with an Idempotency-Key", async () => {
  const busy = await giving(429, 503, 200);
  assert.equal((await asked({ a: busy.as({ retries: 2 }) })).status, 200);
  assert.equal(busy.asked.length, 3);
  const stays = await giving(429);
  assert.equal((await asked({ a: stays.as({ retries: 1 }) })).status, 429);
  assert.equal(stays.asked.length, 2);
  const failing = await giving(500, 200);
  assert.equal((await asked({ a: failing.as({ retries: 2 }) })).status, 500);
  assert.equal(failing.asked.length, 1);
  assert.equal((await asked({ a: failing.as({ retries: 2 }) }, { "idempotency-key": "k" })).status, 200);
  await Promise.all([busy.close(), stays.close(), failing.close()]);
});

test("between two tries passes what the server asks for, at most 20 s, else half a second and then twice as long", () => {
  assert.equal(waitBefore(1, { "retry-after": "2" }), 2000);
  assert.equal(waitBefore(1, { "retry-after": "2", "retry-after-ms": "30" }), 30);
  assert.equal(waitBefore(1, { "retry-after": "3600" }), 20_000);
  assert.deepEqual(
    [1, 2, 3].map((again) => waitBefore(again)),
    [500, 1000, 2000],
  );
  assert.equal(waitBefore(1, { "retry-after": "Wed, 21 Oct 2026 07:28:00 GMT" }), 500);
});

test("an order needs two different versions, none of which is an order", () => {
  const at = (url: string) => versionOf({ kind: "upstream", url }, 0);
  const [a, b] = [at("http://a.test/v1"), at("http://b.test/v1")];
  const order = orderOf([a, b], 0);
  assert.deepEqual(order.backend, { kind: "firstOf", versions: [a.id, b.id] });
  assert.notEqual(orderOf([b, a], 0).id, order.id);
  for (const members of [[a], [a, a], [order, b], []])
    assert.throws(() => orderOf(members, 0), { code: "option.range" });
});

test("a version that is an order opens its members, and closes them when it goes", async () => {
  const [gone, good] = [await giving(200), await giving(200)];
  await gone.close();
  const [a, b] = [
    versionOf({ kind: "upstream", url: gone.url, timeout: 5000, retries: 1 }, 0),
    versionOf({ kind: "upstream", url: good.url, model: "small" }, 0),
  ];
  const order = orderOf([a, b], 0);
  const versions = await liveVersions({
    production: { versions: async () => [a, b, order], splits: async () => [] },
    open: (version, foundations) => openVersion(version, { environment: {} }, foundations),
    main: order.id,
  });
  const { answerer } = versions.choose({ session: "s", response: "r" });
  const { status, tags } = await answerer.chat({
    body: JSON.stringify(body),
    headers: {},
    credentials: { authorization: "Bearer sk-of-the-client" },
    gone: new AbortController().signal,
  });
  assert.equal(status, 200);
  assert.equal(tags?.["whetstone.answered"], b.id);
  assert.equal(good.headers[0]!.authorization, undefined);
  assert.equal(good.asked[0]!.model, "small");
  await versions.close();
  await good.close();
});

test("a key in the query reaches only the member that would get the client's key by itself", async () => {
  const urls: string[] = [];
  const there = await scripted((_, response, { url = "" }) => {
    urls.push(url);
    response.writeHead(429, { "retry-after-ms": "1" }).end("{}");
  });
  const members = [{ clientKeys: true }, { key: "sk-of-the-operator" }, {}].map((options, i) => ({
    version: `v${i}`,
    answerer: upstream({ url: there.url, retries: 1, ...options }),
  }));
  const gateway = await world({ order: firstOf(members) });
  const query = "api-version=1&key=AIza-mine&api_key=mine&%6bey=mine&subscription-key=mine&max=3";
  const sent = {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  };
  await (await fetch(`${gateway.url}/v1/chat/completions?${query}`, sent)).text();
  const path = "/v1/chat/completions";
  const [all, none] = [`${path}?${query}`, `${path}?api-version=1&max=3`];
  assert.deepEqual(urls, [all, all, none, none, none, none]);
  await Promise.all([gateway.close(), there.close()]);
});
