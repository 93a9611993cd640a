import assert from "node:assert/strict";
import { test } from "node:test";
import { visitors } from "../../../src/env/users/visitors.ts";
import { listen } from "../../../src/http/listen.ts";

interface Sent {
  readonly path: string;
  readonly authorization: string | null;
  readonly body: unknown;
}

/** A server that gives everybody the same reply, and keeps what it is sent. */
async function deaf(reply: string) {
  const sent: Sent[] = [];
  let calls = 0;
  const server = await listen(async (request) => {
    const { pathname } = new URL(request.url);
    const authorization = request.headers.get("authorization");
    sent.push({ path: pathname, authorization, body: await request.json() });
    if (pathname === "/v1/feedback") return Response.json({ signals: [] }, { status: 201 });
    const id = `chatcmpl-${calls++}`;
    const message = { role: "assistant", content: reply };
    return Response.json(
      { id, choices: [{ index: 0, message }] },
      { headers: { "x-whetstone-version": "v7" } },
    );
  });
  return { ...server, sent };
}

test("visits: a request each, feedback from those who react, outcomes once weeks have passed", async () => {
  const server = await deaf("honestly briefly routine");
  try {
    const people = visitors({ url: server.url, key: "secret", seed: 5 });
    const visits = await people.come(40);
    const chats = server.sent.filter(({ path }) => path.endsWith("/chat/completions"));
    assert.equal(chats.length, 40);
    assert.ok(
      chats.every(({ path }) => /^\/user\/user-\d+\/session\/visit-\d+\/v1\/chat\/completions$/.test(path)),
    );
    assert.ok(server.sent.every(({ authorization }) => authorization === "Bearer secret"));
    assert.deepEqual(new Set(visits.map((v) => v.version)), new Set(["v7"]));
    assert.deepEqual(
      visits.map((v) => v.session),
      Array.from({ length: 40 }, (_, i) => `visit-${i}`),
    );

    const kinds = (): string[] =>
      server.sent
        .filter(({ path }) => path === "/v1/feedback")
        .flatMap(({ body }) => body as { kind: string }[])
        .map(({ kind }) => kind);
    const of = (kind: string): number => kinds().filter((k) => k === kind).length;
    assert.equal(of("reaction"), visits.filter((v) => v.reaction.thumb !== undefined).length);
    assert.equal(of("correction"), visits.filter((v) => v.reaction.correction !== undefined).length);
    assert.ok(of("reaction") > 0 && of("reaction") < 40);
    assert.equal(of("outcome"), 0);

    const told = await people.tell();
    assert.equal(of("outcome"), told);
    assert.equal(told, visits.filter((v) => v.reaction.later).length);
    assert.equal(await people.tell(), 0, "nobody tells twice");
  } finally {
    await server.close();
  }
});

test("visits: the same seed, the same users, requests and reactions, however many at once", async () => {
  const server = await deaf("brilliant briefly pills");
  try {
    const come = async (atOnce: number) =>
      (await visitors({ url: server.url, seed: 9, atOnce }).come(30)).map(
        ({ response: _, ...visit }) => visit,
      );
    assert.deepEqual(await come(1), await come(16));
  } finally {
    await server.close();
  }
});

test("visits: a server that refuses is named, with what it said", async () => {
  const server = await listen(() => Response.json({ error: { message: "no key" } }, { status: 401 }));
  try {
    await assert.rejects(visitors({ url: server.url }).come(1), /HTTP 401: .*no key.*, expected a gateway/);
  } finally {
    await server.close();
  }
});
