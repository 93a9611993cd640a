import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { test } from "node:test";
import { FeedbackError } from "../../src/client/error.ts";
import type { Feedback } from "../../src/client/types.ts";
import { type Client, type ClientOptions, whetstone } from "../../src/client/whetstone.ts";
import type { FeedbackBody } from "../../src/serve/feedback.ts";
import { listening } from "../serve/listening.ts";

type Server = Awaited<ReturnType<typeof listening>>;

async function withServer(
  play: (server: Server, client: (more?: Partial<ClientOptions>) => Client) => Promise<void>,
): Promise<void> {
  const server = await listening();
  try {
    await play(server, (more) => whetstone({ url: server.url, ...more }));
  } finally {
    await server.close();
  }
}

test("the client's types and the server's schema are the same, both ways", () => {
  const there = (sent: Feedback): FeedbackBody => sent;
  const back = (sent: FeedbackBody): Feedback => sent;
  const sent: Feedback = { kind: "outcome", session: "s", value: true };
  assert.equal(back(there(sent)), sent);
});

test("every kind arrives as it was meant", () =>
  withServer(async ({ url, kept }, client) => {
    const { feedback } = client({ url: `${url}/v1/`, user: "u1" });
    const { id, duplicate } = await feedback.reaction("r1", "thumbs_up");
    assert.deepEqual([kept[0]?.id, duplicate], [id, false]);
    await feedback.rating("r1", 5, { text: "splendid" });
    await feedback.comment("r1", "too long", { tags: { page: "/" } });
    await feedback.critique("r1", "wrong unit", { source: "judge:gpt" });
    await feedback.correction({ response: "r1", characters: [0, 2] }, "Hello");
    await feedback.demonstration({ session: "s1" }, "Hello there");
    await feedback.score("r1", 0.25);
    await feedback.outcome({ session: "s1" }, true);
    await feedback.preference(["r1", "r2"], 1);
    assert.deepEqual(
      kept.map((s) => [s.kind, s.channel, s.value, s.text]),
      [
        ["reaction", "reaction", 1, "thumbs_up"],
        ["score", "rating", 1, "splendid"],
        ["critique", "comment", undefined, "too long"],
        ["critique", "critique", undefined, "wrong unit"],
        ["correction", "correction", undefined, "Hello"],
        ["demonstration", "demonstration", undefined, "Hello there"],
        ["score", "score", 0.25, undefined],
        ["reward", "outcome", 1, undefined],
        ["preference", "preference", undefined, undefined],
      ],
    );
    assert.ok(kept.every((s) => s.user === "u1" && s.key !== undefined));
    assert.equal(new Set(kept.map((s) => s.key)).size, 9);
    assert.equal(kept[3]?.source, "judge:gpt");
    assert.equal(kept[8]?.best, 1);
  }));

test("what comes together goes together", () =>
  withServer(async ({ asked, kept }, client) => {
    const { feedback } = client();
    await Promise.all(Array.from({ length: 50 }, (_, i) => feedback.score("r1", i)));
    assert.equal(kept.length, 50);
    assert.equal(asked.length, 1);
  }));

test("one after the other, each is sent, however soon it follows the one before", () =>
  withServer(async ({ kept }, client) => {
    for (let microtasks = 0; microtasks < 6; microtasks++) {
      const { feedback, flush } = client();
      await feedback.score("r1", 0);
      for (let i = 0; i < microtasks; i++) await undefined;
      const second = feedback.score("r1", 1);
      await flush();
      assert.deepEqual(
        kept.splice(0).map((s) => s.value),
        [0, 1],
      );
      await second;
    }
  }));

test("an answer that is lost on its way doubles nothing", () =>
  withServer(async ({ before, asked, kept, url }, client) => {
    // the first request is kept, and its answer broken off
    let lost = 0;
    const broken: typeof fetch = async (input, init) => {
      const response = await fetch(input, init);
      if (lost++ > 0) return response;
      await response.body?.cancel();
      throw new TypeError("terminated");
    };
    const { feedback } = client({ url, fetch: broken });
    assert.equal((await feedback.reaction("r1", "thumbs_up")).duplicate, true);
    assert.equal(kept.length, 1);
    assert.equal(asked.length, 2);
    before.answer = () => undefined;
  }));

test("an answer that breaks off within its body is one that is lost", () =>
  withServer(async ({ asked, kept, url }, client) => {
    const body = new ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode('{"sig'));
        controller.error(new TypeError("terminated"));
      },
    });
    const broken: typeof fetch = async (input, init) => {
      const response = await fetch(input, init);
      return asked.length === 1 ? new Response(body, { status: response.status }) : response;
    };
    const { feedback } = client({ url, fetch: broken });
    assert.equal((await feedback.reaction("r1", "thumbs_up")).duplicate, true);
    assert.deepEqual([kept.length, asked.length], [1, 2]);
  }));

test("whatever pause a server asks for, what is given later is tried in time", () =>
  withServer(async ({ before, asked, kept }, client) => {
    before.answer = () =>
      asked.length === 1
        ? Response.json({}, { status: 503, headers: { "retry-after": "86400" } })
        : undefined;
    const { feedback } = client({ keepTrying: 300 });
    await assert.rejects(feedback.score("r1", 0), { kind: "undelivered" });
    const began = performance.now();
    await feedback.score("r1", 1);
    assert.ok(performance.now() - began < 1000);
    assert.equal(kept.length, 1);
  }));

test("a server that is busy is asked again, no sooner than it says", () =>
  withServer(async ({ before, asked, kept }, client) => {
    before.answer = () =>
      asked.length === 1
        ? Response.json({ error: { message: "full" } }, { status: 507, headers: { "retry-after": "1" } })
        : undefined;
    const began = performance.now();
    await client().feedback.reaction("r1", "thumbs_up");
    assert.ok(performance.now() - began >= 990);
    assert.equal(kept.length, 1);
  }));

test("one wrong signal costs itself alone", () =>
  withServer(async ({ kept }, client) => {
    const { feedback } = client();
    const results = await Promise.allSettled([
      feedback.rating("r1", 3),
      feedback.rating("r1", 99),
      feedback.rating("r1", 4),
    ]);
    assert.deepEqual(
      results.map((r) => r.status),
      ["fulfilled", "rejected", "fulfilled"],
    );
    assert.equal(kept.length, 2);
    const [, wrong] = results;
    assert.ok(wrong?.status === "rejected" && wrong.reason instanceof FeedbackError);
    const { kind, status, code, fields } = wrong.reason;
    assert.deepEqual([kind, status, code, fields[0]?.path], ["refused", 400, "invalid_feedback", "0.value"]);
  }));

test("one wrong signal among many is found in few requests", () =>
  withServer(async ({ kept, asked }, client) => {
    const { feedback } = client();
    const given = Array.from({ length: 200 }, (_, i) => feedback.rating("r1", i === 60 ? 99 : 3));
    const rejected = (await Promise.allSettled(given)).flatMap((r, i) =>
      r.status === "rejected" ? [i] : [],
    );
    assert.deepEqual([rejected, kept.length], [[60], 199]);
    assert.ok(asked.length <= 30, `${asked.length} requests`);
  }));

test("a signal for many calls is left alone by those that have ended", () =>
  withServer(async (_, client) => {
    const { feedback } = client();
    const { signal } = new AbortController();
    const given = [1, 2, 3].map((n) => feedback.score("r1", n, { signal }));
    assert.equal(getEventListeners(signal, "abort").length, 3);
    await Promise.all(given);
    assert.equal(getEventListeners(signal, "abort").length, 0);
  }));

test("patience ends, the queue is bounded, and a caller can give up", async () => {
  const nobody: typeof fetch = () => Promise.reject(new TypeError("fetch failed"));
  const options = { url: "http://127.0.0.1:9", fetch: nobody };
  const { feedback } = whetstone({ ...options, keepTrying: 0, queue: 2 });
  const [a, b, c] = [1, 2, 3].map((n) => feedback.score("r1", n));
  const kindOf = (e: unknown) => e instanceof FeedbackError && e.kind;
  await assert.rejects(c!, (e) => kindOf(e) === "queue_full");
  await assert.rejects(a!, (e) => kindOf(e) === "undelivered" && /cannot be reached/.test(String(e)));
  await assert.rejects(b!, (e) => kindOf(e) === "undelivered");

  const patient = whetstone({ ...options, keepTrying: 60_000 });
  const left = new AbortController();
  const given = patient.feedback.score("r1", 1, { signal: left.signal });
  left.abort(new Error("enough"));
  await assert.rejects(given, /enough/);
  await patient.flush();
  assert.throws(() => whetstone({ url: "localhost:80" }), /such as http/);
});
