import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { Hono } from "hono";
import type { AccessKey, Scope } from "../../../src/core/served.ts";
import { type Gated, gate } from "../../../src/serve/auth.ts";
import { dashboard } from "../../../src/serve/dashboard/index.ts";
import { keyRoutes } from "../../../src/serve/keyRoutes.ts";
import { mintKey } from "../../../src/serve/keys.ts";
import { openRunStore } from "../../../src/store/runStore.ts";
import { memory } from "../memory.ts";

const host = "whetstone.example";
const origin = `https://${host}`;

/** Pages that others reach, and a clock that stands. */
async function pages(t: TestContext) {
  const store = await openRunStore(":memory:");
  t.after(() => store.close());
  const { production } = memory();
  const clock = { now: 1_000_000 };
  const door = gate({ production, open: false, signing: randomBytes(32), now: () => clock.now });
  const app = new Hono<Gated>()
    .use(door.enter)
    .route("/", keyRoutes(production, door))
    .get("/chat", door.allow("chat"), (c) => c.text("said"))
    .route("/", dashboard({ store, production, folder: join(tmpdir(), "none"), gate: door }));
  const ask = (path: string, headers: Record<string, string> = {}, method = "GET", body?: unknown) =>
    app.request(`http://${host}${path}`, {
      method,
      headers: { host, "content-type": "application/json", ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const mint = async (scopes: readonly Scope[], more: Partial<AccessKey> = {}): Promise<string> => {
    const { secret, key } = mintKey({ label: "k", scopes }, clock.now);
    await production.putKey({ ...key, ...more });
    door.changed();
    return secret;
  };
  /** The cookie as a browser sends it back. */
  const login = async (key: string): Promise<string> => {
    const answer = await ask("/api/session", { origin }, "POST", { key });
    assert.equal(answer.status, 201, await answer.text());
    return (answer.headers.get("set-cookie") ?? "").split(";")[0]!;
  };
  return { ask, mint, login, clock, production, door };
}

test("a key that is shown once opens what pages ask for, by a cookie that no script reads", async (t) => {
  const { ask, mint, login, clock } = await pages(t);
  assert.equal((await ask("/api/runs")).status, 401);
  const key = await mint(["read", "chat"]);
  const answer = await ask("/api/session", { origin }, "POST", { key });
  const [cookie = "", ...attributes] = (answer.headers.get("set-cookie") ?? "").split("; ");
  assert.deepEqual(
    new Set(attributes),
    new Set(["Max-Age=43200", "Path=/", "HttpOnly", "Secure", "SameSite=Strict"]),
  );
  assert.match(cookie, /^__Host-whetstone=/);
  // the secret may have a line like those that set it apart
  assert.ok(!cookie.includes(key.split("_").slice(2).join("_")), "the secret itself is not in it");
  assert.equal((await ask("/api/runs", { cookie })).status, 200);
  assert.deepEqual(await (await ask("/api/session", { cookie })).json(), {
    scopes: ["read"],
    expires: clock.now + 12 * 3_600_000,
  });
  assert.equal((await ask("/chat", { cookie })).status, 403, "what the key may do and no page asks for");
  const plain = await ask("/api/session", { origin: `http://${host}` }, "POST", { key });
  assert.match(
    plain.headers.get("set-cookie") ?? "",
    /^whetstone=[^;]+; Max-Age=43200; Path=\/; HttpOnly; SameSite=Strict$/,
  );
  assert.equal(
    (await ask("/api/runs", { cookie: await login(key), authorization: "Bearer wst_wrong" })).status,
    401,
  );
});

test("a session ends with its time, and with its key", async (t) => {
  const { ask, mint, login, clock, production, door } = await pages(t);
  const cookie = await login(await mint(["read"]));
  clock.now += 12 * 3_600_000 - 1;
  assert.equal((await ask("/api/runs", { cookie })).status, 200);
  clock.now += 1;
  const over = await ask("/api/runs", { cookie });
  assert.equal(over.status, 401);
  assert.match(await over.text(), /Log in again/);
  const again = await login(await mint(["read"]));
  for (const key of await production.keys()) await production.putKey({ ...key, revoked: clock.now });
  door.changed();
  assert.equal((await ask("/api/runs", { cookie: again })).status, 401);
});

test("a cookie that was not made here opens nothing", async (t) => {
  const [here, elsewhere] = [await pages(t), await pages(t)];
  const secret = await here.mint(["read"]);
  const cookie = await here.login(secret);
  for (const key of await here.production.keys()) await elsewhere.production.putKey(key);
  assert.equal((await elsewhere.ask("/api/runs", { cookie })).status, 401, "another secret");
  const [name, value = ""] = cookie.split("=");
  const [claims = "", mac] = value.split(".");
  const later = { ...JSON.parse(Buffer.from(claims, "base64url").toString()), x: here.clock.now * 10 };
  const forged = Buffer.from(JSON.stringify(later)).toString("base64url");
  assert.equal((await here.ask("/api/runs", { cookie: `${name}=${forged}.${mac}` })).status, 401);
  for (const rubbish of ["", "x", "a.b", `${claims}.`, "%00"]) {
    assert.equal((await here.ask("/api/runs", { cookie: `${name}=${rubbish}` })).status, 401, rubbish);
  }
  // what is no cookie's place
  assert.equal((await here.ask("/api/runs", { authorization: `Bearer ${value}` })).status, 401);
});

test("only this server's own pages use a session", async (t) => {
  const { ask, mint, login } = await pages(t);
  const cookie = await login(await mint(["read", "admin"]));
  for (const headers of [
    { origin: "https://evil.example" },
    { origin: "null" },
    { "sec-fetch-site": "cross-site" },
    { "sec-fetch-site": "same-site" },
  ] as const) {
    assert.equal((await ask("/api/runs", { cookie, ...headers })).status, 403, JSON.stringify(headers));
  }
  const tag = (headers: Record<string, string>) =>
    ask("/api/runs/none/tags", { cookie, ...headers }, "POST", { tags: [] });
  assert.equal((await tag({})).status, 403, "browsers name the origin of whatever they post");
  assert.equal((await tag({ origin: "https://sub.whetstone.example" })).status, 403);
  assert.equal((await tag({ origin })).status, 404, "let in, and there is no such run");
});

test("nobody is logged in by another site, with a wrong key, or with one that shows too little", async (t) => {
  const { ask, mint } = await pages(t);
  const key = await mint(["read"]);
  const post = (shown: string, headers: Record<string, string> = { origin }) =>
    ask("/api/session", headers, "POST", { key: shown });
  assert.equal((await post(key, {})).status, 403);
  assert.equal((await post(key, { origin: "https://evil.example" })).status, 403);
  assert.equal((await post(key, { origin, "sec-fetch-site": "cross-site" })).status, 403);
  assert.equal((await post("wst_wrong")).status, 401);
  assert.equal((await post("sk-of-somebody-else")).status, 401);
  assert.equal((await post(await mint(["chat"]))).status, 403);
  assert.equal((await post(await mint(["read"], { only: { session: "s" } }))).status, 403);
  assert.equal((await post(`  ${key}\n`)).status, 201, "pasted with what stood around it");
  let last = 401;
  for (let i = 0; i < 30 && last === 401; i++) last = (await post("wst_wrong")).status;
  assert.equal(last, 429, "keys are not to be guessed");
});

test("pages neither make keys nor see them, and narrowed keys see no pages", async (t) => {
  const { ask, mint, login } = await pages(t);
  const cookie = await login(await mint(["read", "admin", "feedback"]));
  const made = await ask("/v1/keys", { cookie, origin }, "POST", { label: "mine", scopes: ["admin"] });
  assert.equal(made.status, 403);
  assert.equal((await ask("/v1/keys", { cookie })).status, 403);
  assert.equal((await ask("/v1/feedback/tokens", { cookie, origin }, "POST", { session: "s" })).status, 403);
  const narrow = await mint(["read"], { only: { session: "s" } });
  for (const path of ["/api/runs", "/api/inbox"]) {
    assert.equal((await ask(path, { authorization: `Bearer ${narrow}` })).status, 403, path);
  }
});

test("logging out takes the cookie back", async (t) => {
  const { ask, mint, login } = await pages(t);
  const cookie = await login(await mint(["read"]));
  assert.equal((await ask("/api/session", { cookie, origin: "https://evil.example" }, "DELETE")).status, 403);
  const out = await ask("/api/session", { cookie, origin }, "DELETE");
  assert.equal(out.status, 204);
  assert.match(out.headers.get("set-cookie") ?? "", /^__Host-whetstone=; Max-Age=0;.*Path=\//);
});
