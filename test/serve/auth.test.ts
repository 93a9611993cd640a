import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { Hono } from "hono";
import { isWhetstoneError } from "../../src/core/errors.ts";
import type { AccessKey, Scope } from "../../src/core/served.ts";
import { type Gated, type GateOptions, gate, requireKeys } from "../../src/serve/auth.ts";
import { mintKey, signToken } from "../../src/serve/keys.ts";
import { senderKind } from "../../src/serve/requestOrigin.ts";

const signing = randomBytes(32);

/** A door with one thing behind it for each of two scopes, and a clock that stands. */
function door(options: Partial<GateOptions> = {}) {
  const keys = new Map<string, AccessKey>();
  const clock = { now: 1_000_000, asked: 0 };
  const production = {
    keys: async () => {
      clock.asked++;
      return [...keys.values()];
    },
  };
  const at = gate({ production, open: false, signing, now: () => clock.now, ...options });
  const app = new Hono<Gated>()
    .use(at.enter)
    .get("/read", at.allow("read"), (c) => c.json({ key: c.var.caller.key ?? null }))
    .post("/chat", at.allow("chat"), (c) => c.text("said"))
    .post("/change", at.allow("admin"), (c) => c.text("changed"))
    .post("/v1/feedback", at.allow("feedback", "narrowed too"), (c) =>
      c.json({ only: c.var.caller.only ?? null }),
    );
  const mint = (scopes: readonly Scope[], more: Partial<AccessKey> = {}): string => {
    const { secret, key } = mintKey({ label: "k", scopes }, clock.now);
    keys.set(key.id, { ...key, ...more });
    at.changed();
    return secret;
  };
  const ask = (
    path: string,
    headers: Record<string, string> = {},
    method = path === "/read" ? "GET" : "POST",
  ) => app.request(`http://gate${path}`, { method, headers: { host: "gate.example", ...headers } });
  const status = async (path: string, token: string): Promise<number> =>
    (await ask(path, { authorization: `Bearer ${token}` })).status;
  return { at, keys, clock, mint, ask, status };
}

test("a key opens what its scopes say, until it is revoked or expires", async () => {
  const { mint, status, ask, keys, at, clock } = door();
  const reader = mint(["read"]);
  assert.equal(await status("/read", reader), 200);
  assert.equal(await status("/v1/feedback", reader), 403);
  assert.equal(await status("/read", `${reader.slice(0, -1)}${reader.endsWith("A") ? "E" : "A"}`), 401);
  const none = await ask("/read");
  assert.equal(none.status, 401);
  assert.equal(none.headers.get("www-authenticate"), "Bearer");
  assert.equal(await status("/read", "sk-of-somebody-else"), 401);
  const late = mint(["read"], { expires: clock.now + 500 });
  assert.equal(await status("/read", late), 200);
  clock.now += 500;
  assert.equal(await status("/read", late), 401);
  for (const key of keys.values()) keys.set(key.id, { ...key, revoked: clock.now });
  at.changed();
  assert.equal(await status("/read", reader), 401);
});

test("keys that another process made or revoked count two seconds later; the store is not asked each time", async () => {
  const { status, keys, clock, mint } = door();
  const known = mint(["read"]);
  await status("/read", known);
  const { secret, key } = mintKey({ label: "elsewhere", scopes: ["read"] }, clock.now);
  keys.set(key.id, key);
  assert.equal(await status("/read", secret), 401);
  assert.equal(clock.asked, 1);
  clock.now += 2000;
  assert.equal(await status("/read", secret), 200);
  assert.equal(clock.asked, 2);
  // the clock is set back an hour, and meanwhile it is revoked
  keys.set(key.id, { ...key, revoked: clock.now });
  clock.now -= 3_600_000;
  assert.equal(await status("/read", secret), 401);
});

test("a page's token opens feedback alone, and ends with its time or with the key it was asked for with", async () => {
  const { mint, ask, status, keys, clock, at } = door();
  mint(["feedback"]);
  const [parent] = keys.keys();
  const token = signToken({ key: parent!, expires: clock.now + 60_000, only: { session: "s" } }, signing);
  const opened = await ask("/v1/feedback", { authorization: `Bearer ${token}` });
  assert.deepEqual(await opened.json(), { only: { session: "s" } });
  assert.equal(await status("/read", token), 403);
  const orphan = signToken({ key: "gone", expires: clock.now + 60_000, only: {} }, signing);
  assert.equal(await status("/v1/feedback", orphan), 401);
  keys.set(parent!, { ...keys.get(parent!)!, revoked: clock.now });
  at.changed();
  assert.equal(await status("/v1/feedback", token), 401);
  keys.set(parent!, mintKey({ label: "k", scopes: ["feedback"] }, 0).key);
  clock.now += 60_000;
  assert.equal(await status("/v1/feedback", token), 401);
});

test("on this machine no key is needed, and a wrong one of ours still opens nothing", async () => {
  const { ask, mint } = door({ open: true });
  const host = "localhost:8600";
  assert.equal((await ask("/read", { host })).status, 200);
  assert.equal((await ask("/read", { host: "127.0.0.1:8600" })).status, 200);
  assert.equal((await ask("/read", { host: "[::1]:8600" })).status, 200);
  // clients of providers always send something
  assert.equal((await ask("/read", { host, authorization: "Bearer sk-dummy" })).status, 200);
  assert.equal((await ask("/read", { host, authorization: `Bearer wst_${"0".repeat(16)}_x` })).status, 401);
  const narrow = mint(["feedback"]);
  assert.equal((await ask("/read", { host, authorization: `Bearer ${narrow}` })).status, 403);
});

test("a name that leads here by a trick of DNS, and pages of other sites, are refused", async () => {
  const { ask } = door({ open: true, hosts: ["whetstone.local"] });
  const host = "localhost:8600";
  const refused = await ask("/read", { host: "evil.example:8600", origin: "http://evil.example:8600" });
  assert.equal(refused.status, 403);
  assert.equal(refused.headers.get("access-control-allow-origin"), null);
  assert.equal((await ask("/read", { host: "whetstone.local:8600" })).status, 200);
  for (const headers of [
    { origin: "https://evil.example" },
    { origin: "null" },
    { origin: "http://localhost:3000" },
    { "sec-fetch-site": "cross-site" },
    { "sec-fetch-site": "same-site" },
  ]) {
    assert.equal((await ask("/v1/feedback", { host, ...headers })).status, 403, JSON.stringify(headers));
  }
  assert.equal((await ask("/v1/feedback", { host, origin: `http://${host}` })).status, 200);
  assert.equal((await ask("/read", { host, "sec-fetch-site": "same-origin" })).status, 200);
});

test("browsers say who asks, and what they leave out opens nothing to pages of other sites", () => {
  const host = "localhost:8600";
  const own = `http://${host}`;
  for (const [asker, method, origin, site] of [
    ["program", "GET", undefined, undefined],
    ["program", "POST", undefined, undefined],
    // an address that was typed
    ["program", "GET", undefined, "none"],
    ["own page", "GET", undefined, "same-origin"],
    ["own page", "POST", own, "same-origin"],
    // an old browser, or an address that is no secure one
    ["own page", "POST", own, undefined],
    ["other page", "POST", undefined, "none"],
    ["other page", "GET", undefined, "cross-site"],
    ["other page", "GET", undefined, "same-site"],
    ["other page", "POST", "http://localhost:3000", "same-site"],
    ["other page", "POST", own, "cross-site"],
    ["other page", "POST", "null", "cross-site"],
    ["other page", "POST", "null", undefined],
    ["other page", "POST", "", undefined],
    ["other page", "POST", `app://${host}`, undefined],
    ["other page", "GET", "https://evil.example", undefined],
  ] as const) {
    assert.equal(senderKind({ method, host, origin, site }), asker, `${method} ${origin} ${site}`);
  }
});

test("without keys, a page of ours does what it does with one that was shown to it, and calls no model", async () => {
  const { ask } = door({ open: true, origins: ["https://app.example.com"] });
  const host = "localhost:8600";
  const statuses = async (headers: Record<string, string>): Promise<number[]> => {
    const found: number[] = [];
    for (const path of ["/read", "/change", "/v1/feedback", "/chat"]) {
      found.push((await ask(path, { host, ...headers })).status);
    }
    return found;
  };
  assert.deepEqual(await statuses({}), [200, 200, 200, 200]);
  const ours = { origin: `http://${host}`, "sec-fetch-site": "same-origin" };
  assert.deepEqual(await statuses(ours), [200, 200, 200, 403]);
  const listed = { origin: "https://app.example.com", "sec-fetch-site": "cross-site" };
  assert.deepEqual(await statuses(listed), [403, 403, 200, 403]);
  const followed = {
    "sec-fetch-site": "cross-site",
    "sec-fetch-mode": "navigate",
    "sec-fetch-dest": "document",
  };
  assert.deepEqual(await statuses(followed), [403, 403, 403, 403]);
});

test("a narrowed key opens only what looks at what it is narrowed to", async () => {
  const { mint, status } = door();
  const narrow = mint(["read", "admin", "feedback"], { only: { session: "s" } });
  assert.deepEqual(
    [await status("/read", narrow), await status("/change", narrow), await status("/v1/feedback", narrow)],
    [403, 403, 200],
  );
});

test("what came by way of a proxy is not from this machine", async () => {
  const { ask, mint } = door({ open: true });
  const host = "localhost:8600";
  for (const name of ["x-forwarded-for", "forwarded", "via", "x-real-ip"]) {
    const refused = await ask("/read", { host, [name]: "10.0.0.1" });
    assert.equal(refused.status, 401, name);
    assert.match(await refused.text(), /through a proxy/);
  }
  const authorization = `Bearer ${mint(["read"])}`;
  assert.equal((await ask("/read", { host, via: "1.1 proxy", authorization })).status, 200);
});

test("behind proxies of our own, rates go by the address that the last of them was asked from", async () => {
  const rates = { address: { perSecond: 1, burst: 1 } };
  const asking = async (proxies: number, addresses: readonly string[]): Promise<number[]> => {
    const { ask, clock } = door({ rates, proxies });
    const statuses: number[] = [];
    for (const [i, address] of addresses.entries()) {
      const token = signToken({ expires: clock.now + 1e6, only: { session: `${i}` } }, signing);
      const headers = { authorization: `Bearer ${token}`, "x-forwarded-for": address };
      statuses.push((await ask("/v1/feedback", headers)).status);
    }
    return statuses;
  };
  // what the client itself claims, on the left, changes nothing
  assert.deepEqual(await asking(1, ["1.1.1.1", "2.2.2.2", "9.9.9.9, 2.2.2.2"]), [200, 200, 429]);
  assert.deepEqual(await asking(0, ["1.1.1.1", "2.2.2.2"]), [200, 429]);
  assert.deepEqual(await asking(1, ["2001:db8:1:2:3::1", "2001:db8:1:2:4::9"]), [200, 429]);
});

test("an origin that no browser says is refused at the start", () => {
  for (const origin of ["*", "https://a.example", "http://a.example:8080", "chrome-extension://abcdef"]) {
    door({ origins: [origin] });
  }
  for (const origin of [
    "https://a.example/",
    "HTTPS://a.example",
    "https://a.example:443",
    "a.example",
    "null",
  ]) {
    assert.throws(() => door({ origins: [origin] }), /--origin/, origin);
  }
});

test("CORS is closed unless an origin is named, and open to that one alone", async () => {
  const page = "https://app.example.com";
  const { ask, mint } = door({ origins: [page] });
  const authorization = `Bearer ${mint(["feedback"])}`;
  const asked = {
    "access-control-request-method": "POST",
    "access-control-request-headers": "authorization",
  };
  const preflight = await ask("/v1/feedback", { origin: page, ...asked }, "OPTIONS");
  assert.equal(preflight.status, 204);
  assert.equal(preflight.headers.get("access-control-allow-origin"), page);
  assert.match(preflight.headers.get("access-control-allow-headers") ?? "", /authorization/);
  const posted = await ask("/v1/feedback", { origin: page, authorization });
  assert.equal(posted.headers.get("access-control-allow-origin"), page);
  assert.equal(posted.headers.get("access-control-allow-credentials"), null);
  assert.equal(posted.headers.get("x-content-type-options"), "nosniff");
  // a page may read why it was refused
  const refused = await ask("/v1/feedback", { origin: page });
  assert.deepEqual([refused.status, refused.headers.get("access-control-allow-origin")], [401, page]);
  const other = await ask("/v1/feedback", { origin: `${page}.evil.example`, ...asked }, "OPTIONS");
  assert.deepEqual([other.status, other.headers.get("access-control-allow-origin")], [403, null]);
});

test("rates: by key, by token, and by address for keys that are none", async () => {
  const rate = (perSecond: number, burst: number) => ({ perSecond, burst });
  const rates = { key: rate(1, 3), token: rate(1, 2), address: rate(1, 3), failed: rate(0.1, 2) };
  const { mint, status, ask, clock } = door({ rates });
  const key = mint(["read"]);
  assert.deepEqual(await all(4, () => status("/read", key)), [200, 200, 200, 429]);
  const refused = await ask("/read", { authorization: `Bearer ${key}` });
  assert.equal(refused.headers.get("retry-after"), "1");
  clock.now += 1000;
  assert.deepEqual(await all(2, () => status("/read", key)), [200, 429]);
  const token = (session: string) => signToken({ expires: clock.now + 1e6, only: { session } }, signing);
  assert.deepEqual(await all(3, () => status("/v1/feedback", token("a"))), [200, 200, 429]);
  assert.deepEqual(await all(2, () => status("/v1/feedback", token("b"))), [200, 429]);
  // who guesses keys waits; a right one passes all the same, since all may come through one proxy
  const guess = `wst_${"0".repeat(16)}_${"A".repeat(43)}`;
  assert.deepEqual(await all(3, () => status("/read", guess)), [401, 401, 429]);
  assert.equal(await status("/read", mint(["read"])), 200);
});

/** One after the other. */
async function all<T>(n: number, ask: () => Promise<T>): Promise<T[]> {
  const answers: T[] = [];
  for (let i = 0; i < n; i++) answers.push(await ask());
  return answers;
}

test("no server for others without a key that is alive", async () => {
  const { key } = mintKey({ label: "a", scopes: ["chat"], expires: 2000 }, 1000);
  const having = (...keys: AccessKey[]) => ({ keys: async () => keys });
  await requireKeys(having(), "127.0.0.1", 1500);
  await requireKeys(having(key), "0.0.0.0", 1500);
  for (const [production, now] of [
    [having(), 1500],
    [having(key), 2000],
    [having({ ...key, revoked: 1200 }), 1500],
  ] as const) {
    await assert.rejects(
      requireKeys(production, "0.0.0.0", now),
      (e) => isWhetstoneError(e) && e.code === "config.invalid" && /whetstone keys create/.test(e.message),
    );
  }
});
