import assert from "node:assert/strict";
import { test } from "node:test";
import type { KeyBody, NewKeyBody } from "../../src/serve/keyRoutes.ts";
import type { ErrorBody } from "../../src/serve/refusal.ts";
import { listening } from "./listening.ts";

test("keys are made, seen without their secrets, and revoked over HTTP, by whoever has the scope admin", async () => {
  const server = await listening();
  const ask = async <T>(method: string, path: string, body?: unknown, token?: string) => {
    const answer = await fetch(`${server.url}${path}`, {
      method,
      headers: {
        "content-type": "application/json",
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const json: T = JSON.parse(await answer.text());
    return { status: answer.status, json, headers: answer.headers };
  };
  try {
    const only = { session: "s1" };
    const made = await ask<NewKeyBody>("POST", "/v1/keys", {
      label: "survey",
      scopes: ["feedback"],
      only,
      expiresIn: 60,
    });
    assert.equal(made.status, 201);
    assert.equal(made.headers.get("cache-control"), "no-store");
    const { secret, ...key } = made.json;
    assert.deepEqual(key.only, only);
    assert.ok(
      Math.abs((key.expires ?? 0) - key.created - 60_000) < 1000,
      "a minute, counted from when it was asked for",
    );
    const { json: listed } = await ask<{ keys: KeyBody[] }>("GET", "/v1/keys");
    assert.deepEqual(listed.keys, [key]);
    assert.equal((await ask("GET", "/v1/keys", undefined, secret)).status, 403);
    const about = (response: string) => ({ kind: "reaction", response, reaction: "thumbs_up" });
    assert.equal((await ask("POST", "/v1/feedback", about("r1"), secret)).status, 201);
    assert.equal((await ask("POST", "/v1/feedback", about("r2"), secret)).status, 403);
    assert.equal((await ask<KeyBody>("DELETE", `/v1/keys/${key.id}`)).status, 200);
    // at once, since it was revoked here
    assert.equal((await ask("POST", "/v1/feedback", about("r1"), secret)).status, 401);
    assert.equal((await ask("DELETE", "/v1/keys/none")).status, 404);
    // a narrowed key makes none that is wider, whatever its scopes
    const { json: narrow } = await ask<NewKeyBody>("POST", "/v1/keys", {
      label: "n",
      scopes: ["admin"],
      only,
    });
    for (const [method, path, body] of [
      ["POST", "/v1/keys", { label: "wide", scopes: ["admin"] }],
      ["GET", "/v1/keys", undefined],
      ["DELETE", `/v1/keys/${narrow.id}`, undefined],
    ] as const) {
      assert.equal((await ask(method, path, body, narrow.secret)).status, 403, `${method} ${path}`);
    }
    for (const [body, path] of [
      [{ label: "x", scopes: [] }, "scopes"],
      [{ label: "x", scopes: ["root"] }, "scopes.0"],
      [{ scopes: ["read"] }, "label"],
      [{ label: "x", scopes: ["read"], expiresIn: -1 }, "expiresIn"],
    ] as const) {
      const { status, json } = await ask<ErrorBody>("POST", "/v1/keys", body);
      assert.deepEqual([status, json.error.fields?.[0]?.path], [400, path]);
    }
    assert.equal((await ask("POST", "/v1/feedback/tokens", { user: "u" })).status, 400);
    assert.equal((await ask("POST", "/v1/feedback/tokens", { session: "s", expiresIn: 86_401 })).status, 400);
  } finally {
    await server.close();
  }
});
