import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { WhetstoneError } from "../../src/core/errors.ts";
import { type GateOptions, gate } from "../../src/serve/auth.ts";
import { type Acknowledged, type AcknowledgedList, inbox } from "../../src/serve/inbox.ts";
import { keyRoutes, type TokenBody } from "../../src/serve/keyRoutes.ts";
import { mintKey, type Only } from "../../src/serve/keys.ts";
import type { ResponseBody, SessionBody } from "../../src/serve/records.ts";
import type { ErrorBody } from "../../src/serve/refusal.ts";
import { memory, served } from "./memory.ts";

const now = Date.parse("2026-11-21T12:00:00Z");
const responses = [
  served({ id: "r1" }),
  served({
    id: "r2",
    turn: 1,
    prompt: [
      { role: "user", content: "hello" },
      { role: "assistant", content: "hi" },
      { role: "user", content: "and?" },
    ],
  }),
  served({ id: "r3", trajectory: "s1/1" }),
  served({ id: "other", session: "s2", trajectory: "s2/0", user: "u2" }),
];

/** An inbox, and how to ask it. */
function server(options: Partial<GateOptions> = {}) {
  const store = memory(responses);
  const door = gate({
    production: store.production,
    open: true,
    signing: randomBytes(32),
    now: () => now,
    ...options,
  });
  const app = inbox({ ...store, gate: door }).route("/", keyRoutes(store.production, door));
  const ask = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    app.request(`http://localhost${path}`, {
      method,
      headers: {
        host: "localhost:8000",
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
  return { ...store, ask, post: (body: unknown, headers = {}) => ask("POST", "/v1/feedback", body, headers) };
}

/** An answer's JSON, as what it is documented to be. */
async function json<T>(answer: Response | Promise<Response>): Promise<T> {
  return JSON.parse(await (await answer).text());
}

const thumb = { kind: "reaction", response: "r1", reaction: "thumbs_up" };

test("one signal is answered with its id, a list with all of theirs in order", async () => {
  const { post, kept } = server();
  const one = await post(thumb);
  assert.equal(one.status, 201);
  assert.deepEqual(await json(one), { id: kept[0]?.id, duplicate: false });
  const list = await post([thumb, { ...thumb, kind: "comment", text: "good", reaction: undefined }]);
  assert.equal(list.status, 201);
  const { signals } = await json<AcknowledgedList>(list);
  assert.deepEqual(
    signals.map((s) => s.id),
    kept.slice(1).map((s) => s.id),
  );
});

test("what is sent again with its key is known, by body and by header", async () => {
  const { post, kept } = server();
  const first = await json<Acknowledged>(post({ ...thumb, key: "k1" }));
  const again = await post({ ...thumb, key: "k1" });
  assert.equal(again.status, 200);
  assert.deepEqual(await json(again), { id: first.id, duplicate: true });
  await post(thumb, { "idempotency-key": "k2" });
  await post(thumb, { "idempotency-key": "k2" });
  assert.equal((await post([thumb, thumb], { "idempotency-key": "k3" })).status, 201);
  assert.equal((await post([thumb, thumb], { "idempotency-key": "k3" })).status, 200);
  assert.deepEqual(
    kept.map((s) => s.key),
    ["k1", "k2", "k3/0", "k3/1"],
  );
  assert.equal((await post(thumb, { "idempotency-key": "two words" })).status, 400);
});

test("a list with one wrong signal is not taken at all", async () => {
  const { post, kept } = server();
  const refused = await post([thumb, { ...thumb, reaction: 7 }]);
  assert.equal(refused.status, 400);
  const { error } = await json<ErrorBody>(refused);
  assert.equal(error.code, "invalid_feedback");
  assert.equal(error.fields?.[0]?.path, "1.reaction");
  assert.match(error.message, /1\.reaction: .*string.*Nothing was stored/);
  assert.equal(kept.length, 0);
});

test("a full disk and a failing store say so, with the time to wait, and nothing of why", async () => {
  const { post, state } = server();
  const parts = { where: "store", got: "/secret/path", expected: "room", fix: "Free some." };
  for (const [code, status, name] of [
    ["store.full", 507, "store_full"],
    ["store.failed", 503, "store_failed"],
  ] as const) {
    state.failing = new WhetstoneError(code, parts);
    const refused = await post(thumb);
    assert.equal(refused.status, status);
    assert.ok(Number(refused.headers.get("retry-after")) > 0);
    const text = await refused.text();
    assert.equal(JSON.parse(text).error.code, name);
    assert.ok(!text.includes("secret"));
  }
});

test("what is no JSON, too long or too deep is refused by name", async () => {
  const { post, ask } = server();
  const code = async (answer: Response | Promise<Response>) => {
    const response = await answer;
    return [response.status, (await json<ErrorBody>(response)).error.code];
  };
  assert.deepEqual(await code(post("{")), [400, "invalid_json"]);
  assert.deepEqual(await code(post("")), [400, "invalid_json"]);
  assert.deepEqual(await code(post(`${"[".repeat(50)}${"]".repeat(50)}`)), [400, "too_deep"]);
  assert.deepEqual(await code(post({ ...thumb, kind: "comment", text: "x".repeat(1.2e6) })), [
    413,
    "body_too_large",
  ]);
  assert.deepEqual(await code(ask("POST", "/v1/feedback", "a=b", { "content-type": "text/plain" })), [
    415,
    "not_json",
  ]);
});

test("of a prompt of very many messages, a session shows the last thousand", async () => {
  const prompt = Array.from({ length: 1500 }, (_, i) => ({ role: "user" as const, content: `m${i}` }));
  const { production, recorder } = memory([served({ id: "r1", prompt })]);
  const door = gate({ production, open: true, signing: randomBytes(32), now: () => now });
  const asked = inbox({ production, recorder, gate: door }).request("http://localhost/v1/sessions/s1", {
    headers: { host: "localhost:8000" },
  });
  const turn = (await json<SessionBody>(asked)).trajectories[0]!.turns[0]!;
  assert.deepEqual([turn.skipped, turn.messages.length], [500, 1000]);
  assert.equal(turn.messages[0]?.content, "m500");
});

test("a session is shown with its trajectories, cuts and signals, and what was new at each turn", async () => {
  const { post, ask } = server();
  await post({ kind: "outcome", session: "s1", value: true });
  const session = await json<SessionBody>(ask("GET", "/v1/sessions/s1"));
  assert.equal(session.cuts, 1);
  assert.deepEqual(
    session.trajectories.map((t) => [t.id, t.turns.map((x) => x.id)]),
    [
      ["s1/0", ["r1", "r2"]],
      ["s1/1", ["r3"]],
    ],
  );
  assert.deepEqual(
    session.trajectories[0]?.turns[1]?.messages.map((m) => m.content),
    ["hi", "and?"],
  );
  assert.equal(session.signals[0]?.value, 1);
  // prompts of 5 and 11 characters, at three characters a token, each answered with one token
  const costs = session.trajectories.map(({ turns }) => turns.map(({ usd }) => usd));
  assert.deepEqual(costs, [[2 + 2, 4 + 2], [2 + 2]]);
  assert.equal(session.usd, 14);
  const { response } = await json<{ response: ResponseBody }>(ask("GET", "/v1/responses/r2"));
  assert.equal(response.prompt.length, 3);
  assert.equal((await ask("GET", "/v1/responses/none")).status, 404);
  assert.equal((await ask("GET", "/v1/sessions/none")).status, 404);
  await post(thumb);
  const { signals } = await json<{ signals: unknown[] }>(ask("GET", "/v1/feedback?response=r1"));
  assert.equal(signals.length, 1);
  const refused = await ask("GET", "/v1/feedback?limit=1e9");
  assert.equal(refused.status, 400);
  assert.match(
    (await json<ErrorBody>(refused)).error.message,
    /limit: expected a whole number from 0 to 1000/,
  );
});

test("a page's token is good for its session's feedback, in its user's name, and for nothing else", async () => {
  const { ask, post, production, kept } = server({ open: false });
  const { secret, key } = mintKey({ label: "app", scopes: ["feedback"] }, now);
  await production.putKey(key);
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
  const asked = await ask("POST", "/v1/feedback/tokens", { session: "s1", user: "u1" }, bearer(secret));
  assert.equal(asked.status, 201);
  const { token, expires } = await json<TokenBody>(asked);
  assert.equal(expires, now + 3_600_000);

  const forged = { ...thumb, user: "u9", source: "reviewer:ann", key: "k" };
  assert.equal((await post(forged, bearer(token))).status, 201);
  assert.deepEqual([kept[0]?.user, kept[0]?.source], ["u1", "user"]);
  assert.equal((await post({ kind: "outcome", session: "s1", value: 1 }, bearer(token))).status, 201);
  for (const about of [
    { response: "other" },
    { response: "unknown" },
    { session: "s2" },
    { response: "r1", session: "s2" },
    { trajectory: "s2/0", turn: 0 },
    { trajectory: "s1/b/0", turn: 0 },
    { trajectory: "s1", turn: 0 },
    { session: "s1", trajectory: "s1/b/0", turn: 0 },
  ]) {
    const refused = await post({ kind: "comment", text: "x", ...about }, bearer(token));
    assert.equal(refused.status, 403, JSON.stringify(about));
  }
  assert.equal((await ask("GET", "/v1/feedback?session=s1", undefined, bearer(token))).status, 403);
  assert.equal((await ask("POST", "/v1/feedback/tokens", { session: "s2" }, bearer(token))).status, 403);
  assert.equal((await ask("POST", "/v1/keys", { label: "x", scopes: ["admin"] }, bearer(token))).status, 403);
});

test("a narrowed key's idempotency keys are its own", async () => {
  const { post, production, kept } = server({ open: false });
  const bearer = async (only?: Only) => {
    const minted = mintKey({ label: "app", scopes: ["feedback"], ...(only && { only }) }, now);
    await production.putKey(minted.key);
    return { authorization: `Bearer ${minted.secret}` };
  };
  const give = async (session: string, key: string, headers: Record<string, string>) =>
    (await post({ kind: "comment", text: "x", session, key }, headers)).status;
  const long = "\u{1f600}".repeat(128);
  const callers: readonly (readonly [session: string, key: string, only: Only])[] = [
    ["a", "b k", { session: "a" }],
    ["a b", "k", { session: "a b" }],
    ["a b", "k", { session: "a b", user: "u1" }],
    ["a b", "k", { session: "a b", user: "u2" }],
    [long, long, { session: long }],
  ];
  const headers = await Promise.all(callers.map(([, , only]) => bearer(only)));
  const whole = await bearer();
  for (const [i, [session, key, only]] of callers.entries()) {
    assert.equal(await give(session, key, headers[i]!), 201, JSON.stringify(only));
    assert.equal(await give(session, key, headers[i]!), 200, JSON.stringify(only));
  }
  assert.ok(kept.every(({ key = "" }) => key.length <= 512));
  // nobody else can send such a key, whatever they know of it
  for (const { key = "" } of [...kept]) assert.equal(await give("a b", key, whole), 400);
  assert.equal(await give("a b", "a b k", whole), 201);
});

test("neither who gives feedback in one place alone nor a page of another site reviews anybody's", async () => {
  const origin = "https://app.example.com";
  const { post, kept, production } = server({ open: false, origins: [origin] });
  const whole = mintKey({ label: "reviewer", scopes: ["feedback"] }, now);
  const narrow = mintKey({ label: "page", scopes: ["feedback"], only: { session: "s1" } }, now);
  for (const { key } of [whole, narrow]) await production.putKey(key);
  const review = {
    kind: "reaction",
    response: "r1",
    reaction: "rejected",
    channel: "review",
    tags: { signal: "sig_x" },
  };
  const refused = await post(review, { authorization: `Bearer ${narrow.secret}` });
  assert.equal(refused.status, 403);
  assert.equal((await json<ErrorBody>(refused)).error.code, "narrowed_key");
  const authorization = `Bearer ${whole.secret}`;
  assert.equal((await post(review, { authorization, origin })).status, 403);
  assert.equal((await server({ origins: [origin] }).post(review, { origin })).status, 403);
  assert.equal(kept.length, 0);
  assert.equal((await post(review, { authorization })).status, 201);
});

test("a key for one response reads that one, and not the session that it begins", async () => {
  const { ask, production } = server({ open: false });
  const { secret, key } = mintKey({ label: "one", scopes: ["read"], only: { response: "r1" } }, now);
  await production.putKey(key);
  const status = async (path: string): Promise<number> =>
    (await ask("GET", path, undefined, { authorization: `Bearer ${secret}` })).status;
  assert.equal(await status("/v1/responses/r1"), 200);
  assert.equal(await status("/v1/feedback?response=r1"), 200);
  assert.equal(await status("/v1/responses/r2"), 404);
  assert.equal(await status("/v1/sessions/s1"), 404);
  assert.equal(await status("/v1/feedback?session=s1"), 404);
});
