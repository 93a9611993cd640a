/** Budgets of keys, in a whole server with a store. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import type { Budget } from "../../../src/core/budget.ts";
import { openVersion, versionOf } from "../../../src/serve/gateway/open.ts";
import { serveProduction } from "../../../src/serve/gateway/server.ts";
import { spending } from "../../../src/serve/gateway/spending.ts";
import { liveVersions } from "../../../src/serve/gateway/versions.ts";
import { mintKey } from "../../../src/serve/keys.ts";
import { openTrafficStore } from "../../../src/store/openTrafficStore.ts";
import { recorder } from "../../../src/store/recorder.ts";
import { served } from "../memory.ts";
import { scripted } from "./world.ts";

const folder = mkdtempSync(join(tmpdir(), "whetstone-spending-"));
/** Of tests that failed before they closed it; it would keep the process alive. */
const open = new Set<() => Promise<void>>();
after(async () => {
  await Promise.allSettled([...open].map((close) => close()));
  rmSync(folder, { recursive: true, force: true });
});
let files = 0;

/** A million tokens a call, at a dollar: each call costs a dollar. */
const usage = { prompt_tokens: 1_000_000, completion_tokens: 0, total_tokens: 1_000_000 };

async function serving(file = join(folder, `${files++}.sqlite`)) {
  const upstream = await scripted(async (body, response, request) => {
    if (request.url?.endsWith("/embeddings")) {
      response.setHeader("content-type", "application/json");
      return response.end(JSON.stringify({ data: [], usage }));
    }
    // long enough for all calls of a test to come at the same time
    if (body.max_tokens === 1) await new Promise((resolve) => setTimeout(resolve, 1000));
    const choice = { index: 0, finish_reason: "stop" };
    const message = { role: "assistant", content: "hi" };
    if (body.stream !== true) {
      response.setHeader("content-type", "application/json");
      return response.end(JSON.stringify({ id: "x", choices: [{ ...choice, message }], usage }));
    }
    const options = body.stream_options as { include_usage?: boolean } | undefined;
    response.setHeader("content-type", "text/event-stream");
    response.write(`data: ${JSON.stringify({ id: "x", choices: [{ ...choice, delta: message }] })}\n\n`);
    if (options?.include_usage)
      response.write(`data: ${JSON.stringify({ id: "x", choices: [], usage })}\n\n`);
    response.end("data: [DONE]\n\n");
  });
  const production = await openTrafficStore(file);
  const writing = recorder(production);
  const version = versionOf({ kind: "upstream", url: upstream.url }, 0);
  if ((await production.versions()).length === 0) await production.addVersion(version);
  const versions = await liveVersions({
    production,
    open: (one) => openVersion(one, { environment: {} }),
  });
  const server = await serveProduction({ production, recorder: writing, versions, signing: randomBytes(32) });
  const key = async (budget?: Budget): Promise<string> => {
    const { secret, key } = mintKey(
      {
        label: `k${Math.max(0, (await production.keys()).length)}`,
        scopes: ["chat"],
        ...(budget && { budget }),
      },
      Date.now(),
    );
    await production.putKey(key);
    return secret;
  };
  const post = (secret: string, path: string, body: object) =>
    fetch(`${server.url}/v1${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  const close = async (): Promise<void> => {
    open.delete(close);
    await server.close();
    await versions.close();
    await writing.close();
    await production.close();
    await upstream.close();
  };
  open.add(close);
  return {
    file,
    upstream,
    production,
    key,
    async chat(secret: string, more: object = {}) {
      const said = { model: "m", messages: [{ role: "user", content: "hello" }], ...more };
      const response = await post(secret, "/chat/completions", said);
      const text = await response.text();
      await writing.flush();
      return {
        status: response.status,
        text,
        again: response.headers.get("x-should-retry"),
        after: response.headers.get("retry-after"),
      };
    },
    async embed(secret: string) {
      const response = await post(secret, "/embeddings", { model: "m", input: "hello" });
      await response.text();
      return response.status;
    },
    close,
  };
}

test("a key stops when its budget is spent, also after a restart; other keys do not", async () => {
  const first = await serving();
  await first.production.putPrice({ id: "m", input: 1, output: 1 });
  const [limited, free] = [await first.key({ usd: 2, per: "month" }), await first.key()];
  assert.equal((await first.chat(limited)).status, 200);
  assert.equal((await first.chat(limited)).status, 200);
  const refused = await first.chat(limited);
  assert.equal(refused.status, 429);
  assert.match(refused.text, /\$2 a month\. It begins anew.*budget_spent/);
  assert.equal(refused.again, "false", "clients must not ask again and again");
  assert.equal((await first.chat(free)).status, 200);
  assert.equal(first.upstream.asked.length, 3);
  const stored = await Array.fromAsync(first.production.responses());
  assert.equal(new Set(stored.map(({ tags }) => tags["whetstone.key"])).size, 2);
  await first.close();

  const again = await serving(first.file);
  // the version of the first server names an address where nobody is any more: the refusal comes before
  assert.equal((await again.chat(limited)).status, 429);
  await again.close();
});

test("a streamed answer states its usage although the client did not ask, and the client does not see it", async () => {
  const there = await serving();
  await there.production.putPrice({ id: "m", input: 1, output: 1 });
  const key = await there.key({ usd: 1, per: "day" });
  const streamed = await there.chat(key, { stream: true });
  assert.equal(streamed.status, 200);
  assert.doesNotMatch(streamed.text, /usage/);
  assert.deepEqual(there.upstream.asked[0]!.stream_options, { include_usage: true });
  assert.equal((await there.chat(key)).status, 429);
  await there.close();
});

test("embeddings are paid from the budget as well; a model without a price is refused before anything is sent", async () => {
  const there = await serving();
  const key = await there.key({ usd: 1, per: "ever" });
  const unpriced = await there.chat(key);
  assert.equal(unpriced.status, 403);
  assert.match(unpriced.text, /prices set 'm' 0\.25,2.*no_price/);
  assert.equal(there.upstream.asked.length, 0);
  await there.close();

  const priced = await serving();
  await priced.production.putPrice({ id: "m", input: 1, output: 1 });
  const other = await priced.key({ usd: 1, per: "ever" });
  assert.equal(await priced.embed(other), 200);
  assert.equal(await priced.embed(other), 429);
  assert.equal((await priced.chat(other)).status, 429);
  await priced.close();
});

test("two hundred calls at once whose upstream ignores their limits overspend by what thirty-two cost, and then no call is made", async () => {
  const there = await serving();
  await there.production.putPrice({ id: "m", input: 1, output: 1 });
  const key = await there.key({ usd: 1, per: "day" });
  const calls = Array.from({ length: 200 }, () => there.chat(key, { max_tokens: 1 }));
  const answers = await Promise.all(calls);
  const { length } = answers.filter(({ status }) => status === 200);
  assert.equal(length, 32);
  assert.equal(there.upstream.asked.length, length);
  const refused = answers.filter(({ status, text }) => status === 429 && !/budget_spent/.test(text));
  assert.ok(refused.length > 0);
  for (const { text, after } of refused)
    assert.deepEqual([/32 of its calls are running.*"too_many_requests"/.test(text), after], [true, "1"]);
  assert.equal((await there.chat(key, { max_tokens: 1 })).status, 429);
  assert.equal(there.upstream.asked.length, length, "nothing was asked any more");
  await there.close();
});

test("what calls cost beyond their requests is held back for the next ones", async () => {
  const keeping = spending(
    {
      prices: async () => [{ id: "m", input: 1, output: 1 }],
      versions: async () => [],
      async *responses() {},
    },
    () => 0,
  );
  const purse = (await keeping.purse({ key: "k", budget: { usd: 4, per: "ever" } }))!;
  const begin = (): ReturnType<typeof purse.hold> | undefined =>
    purse.refusal("v", "m") ? undefined : purse.hold("v", "m", 0, { max_tokens: 1 });
  const begun = (): number => {
    const calls = Array.from({ length: 50 }, begin).flatMap((back) => back ?? []);
    for (const back of calls) back();
    return calls.length;
  };
  assert.equal(begun(), 32, "as many as may run at once");
  const first = begin()!;
  first(purse.note("v", "m", { input: 0, output: 1_000_000 }));
  assert.equal(begun(), 3, "three dollars are left, and a call may cost one");
  assert.equal(begun(), 3, "what was held back came back");
  const embedded = begin()!;
  embedded(purse.note("v", "m", { input: 3_000_000, output: 0 }));
  assert.equal(begin(), undefined);
});

test("a stored call that its client left counts for what was held back for it", async () => {
  const cut = { version: "v", model: "m", status: "cut", tags: { "whetstone.key": "k" } } as const;
  const left = served({
    ...cut,
    id: "left",
    error: "the client went away",
    settings: { max_tokens: 90_000 },
  });
  const broken = served({
    ...cut,
    id: "broken",
    error: "the upstream closed",
    settings: { max_tokens: 90_000 },
  });
  const spentBy = async (response: typeof left, usd: number) => {
    const keeping = spending(
      {
        prices: async () => [{ id: "m", input: 0, output: 250 }],
        versions: async () => [],
        async *responses() {
          yield response;
        },
      },
      () => 0,
    );
    const purse = (await keeping.purse({ key: "k", budget: { usd, per: "ever" } }))!;
    return purse.refusal("v", "m")?.code === "budget_spent";
  };
  assert.deepEqual([await spentBy(left, 1), await spentBy(left, 1.01)], [true, false], "4,000 tokens");
  assert.equal(await spentBy(broken, 0.1), false);
});

test("what is recorded while the store is read counts once; a new day begins with nothing", async () => {
  const day = Date.UTC(2026, 5, 1, 12);
  let now = day;
  const call = (id: string, at: number) =>
    served({
      id,
      at,
      version: "v",
      model: "m",
      usage: { input: 1_000_000, output: 0 },
      tags: { "whetstone.key": "k" },
    });
  const reading = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const stored = [call("before", day - 1), call("meanwhile", day)];
  const keeping = spending(
    {
      prices: async () => [{ id: "m", input: 1, output: 1 }],
      versions: async () => [],
      async *responses({ from = 0 } = {}) {
        begun.resolve();
        await reading.promise;
        yield* stored.filter(({ at }) => at >= from);
      },
    },
    () => now,
  );
  const who = { key: "k", budget: { usd: 2.5, per: "day" } } as const;
  const purse = keeping.purse(who);
  await begun.promise;
  keeping.note(stored[1]!); // handed to the recorder, and on disk before the reader comes there
  reading.resolve();
  const first = (await purse)!;
  assert.equal(first.refusal("v", "m"), undefined, "two dollars of two and a half");
  keeping.note(call("third", day + 1));
  assert.equal(first.refusal("v", "m")?.code, "budget_spent");
  now += 86_400_000;
  assert.equal((await keeping.purse(who))!.refusal("v", "m"), undefined);
  assert.equal(await keeping.purse({ key: "other" }), undefined);
});
