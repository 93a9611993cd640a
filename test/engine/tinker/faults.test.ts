/** Every row of the retry table, against a server that follows a script; and a network that loses and doubles. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { randomStream } from "../../../src/core/random.ts";
import { meaningOf, resultOf, submitIfRead } from "../../../src/engine/tinker/future.ts";
import { textInput } from "../../../src/engine/tinker/protocol.ts";
import { openSession, reached } from "../../../src/engine/tinker/session.ts";
import { floatTensor, idTensor } from "../../../src/engine/tinker/tensors.ts";
import { chunksOf } from "../../../src/engine/tinker/trainer.ts";
import { transport } from "../../../src/engine/tinker/transport.ts";
import { withCode } from "../../train/world.ts";

type Reply = Response | "lost" | "cut";
const json = (body: object, status = 200): Response => Response.json(body, { status });
const pending = (): Response =>
  json({ type: "try_again", request_id: "r", queue_state: "paused_rate_limit" });

/** A transport whose answers come from a script; `asked` has what was sent, `waits` how long it waited, in ms. */
function scripted(script: (path: string, n: number) => Reply, patienceSeconds = 60) {
  const asked: { readonly path: string; readonly key: string | null; readonly body: string }[] = [];
  const waits: number[] = [];
  const over = transport({
    url: "http://stub",
    key: "tml-1",
    patienceSeconds,
    wait: async (ms) => void waits.push(ms),
    fetch: async (url, init) => {
      const path = String(url).slice("http://stub/api/v1/".length);
      const headers = new Headers(init?.headers);
      assert.equal(headers.get("X-API-Key"), "tml-1");
      asked.push({ path, key: headers.get("X-Idempotency-Key"), body: String(init?.body) });
      const reply = script(path, asked.length - 1);
      if (reply === "lost") throw new TypeError("fetch failed");
      return reply === "cut" ? new Response('{"request_id"') : reply;
    },
  });
  const result = () => resultOf(over, "optim_step", { json: { seq_id: 1 } }, { type: "OptimStep" });
  return { over, asked, waits, result };
}

/** Submitted at once; then these answers to the questions for the result. */
const polled = (...answers: Reply[]) => {
  let next = 0;
  const script = (path: string): Reply =>
    path === "optim_step" ? json({ request_id: "r" }) : (answers[next++] ?? json({ metrics: {} }));
  return scripted(script, 3600);
};

test("a pending result is asked for again, at once or later, as each answer says", async () => {
  const rows: readonly (readonly [Reply, number])[] = [
    [pending(), 20],
    [json({ detail: "still waiting" }, 408), 20],
    [json({ detail: "no" }, 500), 20],
    [json({ detail: "no" }, 503), 20],
    [json({ detail: "slow down" }, 429), 500],
    ["lost", 500],
    ["cut", 500],
    [json({ detail: "pay" }, 402), 5000],
    [json({ detail: "odd" }, 400), 20],
  ];
  for (const [reply, wait] of rows) {
    const { result, waits, asked } = polled(reply);
    assert.deepEqual((await result()).json, { metrics: {} });
    assert.equal(asked.length, 3);
    assert.deepEqual(waits, [wait]);
  }
});

test("a wait grows while the connection is lost, to 30 s, and begins anew once it is there", async () => {
  const lost = Array<Reply>(8).fill("lost");
  const { result, waits } = polled(...lost, pending(), "lost");
  await result();
  assert.deepEqual(waits, [500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 20, 500]);
});

test("a result that takes long is reported, once after 20 seconds and again after 40", async () => {
  const working = (): Reply => json({ type: "try_again", request_id: "r", queue_state: "active" });
  const said: string[] = [];
  const { over } = polled(...Array.from({ length: 2500 }, working)); // 20 ms each
  const talking = { ...over, say: (line: string) => void said.push(line) };
  await resultOf(talking, "optim_step", { json: {} }, { type: "OptimStep" });
  assert.deepEqual(
    said.map((line) => line.slice(0, 45)),
    ["optim_step has taken 20 seconds and goes on: ", "optim_step has taken 40 seconds and goes on: "],
  );
  // the next call is expected to take as long
  const next = polled(...Array.from({ length: 1500 }, working));
  await resultOf(
    { ...next.over, late: talking.late, say: talking.say },
    "optim_step",
    { json: {} },
    { type: "OptimStep" },
  );
  assert.equal(said.length, 2);
});

test("a question that a server was silent to is asked again at once: it has been waited for", async () => {
  const { over, waits } = polled("lost");
  const slow = {
    ...over,
    once: async (...call: Parameters<typeof over.once>) => {
      const answer = await over.once(...call);
      if (!answer) await new Promise((go) => setTimeout(go, 510));
      return answer;
    },
  };
  await resultOf(slow, "optim_step", { json: {} }, { type: "OptimStep" });
  assert.deepEqual(waits, []);
});

test("calls that wait beside each other say so once, and again when it happens again", async () => {
  const said: string[] = [];
  let away = true;
  const over = transport({
    url: "http://stub",
    wait: () => new Promise(setImmediate),
    say: (line) => void said.push(line),
    fetch: async () => {
      if (away) throw new TypeError("fetch failed");
      return json({});
    },
  });
  for (const outage of [1, 2]) {
    away = true;
    const calls = Array.from({ length: 8 }, () => over.send("asample", { json: {} }));
    while (said.length < outage) await new Promise(setImmediate);
    away = false;
    await Promise.all(calls);
    assert.equal(said.length, outage, said.join("\n"));
  }
  assert.match(said[0]!, /^asample at http:\/\/stub: no connection/);
});

test("a server that says how long to wait is taken at its word, up to a minute", async () => {
  const slowDown = (after: string) =>
    new Response("{}", {
      status: 429,
      headers: { "Retry-After": after, "Content-Type": "application/json" },
    });
  const replies = [slowDown("7"), slowDown("0.1"), slowDown("3600"), slowDown("soon")];
  const { over, waits } = scripted((_, n) => replies[n] ?? json({ request_id: "r" }), 3600);
  await over.send("asample", { json: {} });
  assert.deepEqual(waits, [7000, 1000, 60_000, 4000]);
  const { result, waits: between } = polled(slowDown("7"), slowDown("0"));
  await result();
  assert.deepEqual(between, [7000, 500]);
  const dated = scripted((_, n) =>
    n === 0 ? slowDown(new Date(Date.now() + 30_000).toUTCString()) : json({ request_id: "r" }),
  );
  await dated.over.send("asample", { json: {} });
  assert.ok(dated.waits[0]! > 25_000 && dated.waits[0]! <= 30_000, `${dated.waits}`);
});

test("a clash may be with a request that is still at work: it is asked again, five times", async () => {
  const clash = () => json({ detail: "in use" }, 409);
  const brief = scripted((_, n) => (n < 5 ? clash() : json({ request_id: "r" })));
  await brief.over.send("optim_step", { json: {} });
  assert.equal(new Set(brief.asked.map(({ key }) => key)).size, 1);
  const lasting = scripted(clash, 3600);
  await assert.rejects(
    lasting.over.send("optim_step", { json: {} }),
    withCode("engine.failed", /409: in use/),
  );
  assert.equal(lasting.asked.length, 6);
});

test("patience counts the silence of a server as well as the waits between calls", async () => {
  let calls = 0;
  const over = transport({
    url: "http://stub",
    timeoutSeconds: 0.3,
    patienceSeconds: 0.55,
    wait: async () => {},
    fetch: (_, init) => {
      calls++;
      return new Promise((_, reject) => {
        const open = setTimeout(() => undefined, 60_000); // a connection keeps a process alive; a signal's timer does not
        init?.signal?.addEventListener("abort", () => {
          clearTimeout(open);
          reject(init.signal?.reason);
        });
      });
    },
  });
  await assert.rejects(over.send("optim_step", { json: {} }), withCode("engine.failed", /no connection/));
  assert.ok(calls <= 2, `${calls} calls`);
});

test("a server that breaks on the first pass, and then reads protobuf, is not taken for one that reads JSON alone", async () => {
  const body = { protobuf: new Uint8Array(1) };
  const storm = scripted((_, n) => (n < 2 ? json({ detail: "storm" }, 500) : json({ request_id: "r" })));
  assert.equal(await submitIfRead(storm.over, "forward_backward", body), "r");
  const never = scripted(() => json({ detail: "no" }, 500));
  assert.equal(await submitIfRead(never.over, "forward_backward", body), undefined);
  const unread = scripted(() => json({ detail: "no" }, 422));
  assert.equal(await submitIfRead(unread.over, "forward_backward", body), undefined);
  assert.equal(unread.asked.length, 1);
});

test("what is final ends with what the server said", async () => {
  const user = json({ error: "targets beyond the vocabulary", category: "User" });
  await assert.rejects(polled(user).result(), withCode("engine.failed", /beyond the vocabulary/));
  const unknown = polled(json({ detail: "no future r" }, 404));
  await assert.rejects(unknown.result(), withCode("engine.failed", /no future r/));
  await assert.rejects(polled(json({ detail: "bad" }, 422)).result(), withCode("engine.failed", /bad/));
  const bad = polled(...[1, 2, 3].map(() => json({ detail: "bad request" }, 400)));
  await assert.rejects(bad.result(), withCode("engine.failed", /bad request/));
  assert.equal(bad.asked.length, 4);
});

test("a result that the server lost is asked for anew with the same body, three times at most", async () => {
  const once = polled(json({ detail: "gone" }, 410));
  await once.result();
  assert.deepEqual(
    once.asked.map(({ path }) => path),
    ["optim_step", "retrieve_future", "optim_step", "retrieve_future"],
  );
  assert.equal(once.asked[2]!.body, once.asked[0]!.body);
  const never = polled(...Array.from({ length: 5 }, () => json({ detail: "gone" }, 410)));
  await assert.rejects(never.result(), withCode("engine.failed", /gone/));
  assert.equal(never.asked.filter(({ path }) => path === "optim_step").length, 4);
});

test("a request is sent again under the same idempotency key, and its patience ends", async () => {
  const replies: Reply[] = ["lost", json({}, 500), json({}, 429), json({}, 408), "cut"];
  const { over, asked, waits } = scripted((_, n) => replies[n] ?? json({ request_id: "r" }));
  await over.send("optim_step", { json: {} });
  assert.equal(asked.length, 6);
  assert.equal(new Set(asked.map(({ key }) => key)).size, 1);
  assert.deepEqual(waits, [500, 1000, 2000, 4000, 8000]);
  const dead = scripted(() => "lost", 10);
  await assert.rejects(
    dead.over.send("optim_step", { json: {} }),
    withCode("engine.failed", /retried for 10 seconds/),
  );
  const denied = scripted(() => json({ detail: "who are you" }, 401));
  await assert.rejects(denied.over.send("create_session", { json: {} }), (e) => {
    assert.match(String(e), /who are you/);
    assert.match(String(e), /--key-env/);
    assert.doesNotMatch(String(e), /tml-1/);
    return true;
  });
  // nothing was forgotten where nothing had begun
  const elsewhere = scripted(() => json({ detail: "No such page." }, 404));
  await assert.rejects(
    elsewhere.over.send("create_session", { json: {} }),
    withCode("engine.failed", /No such page, expected .*--url to the address of a server/),
  );
});

test("a future that never ends is given up after the patience, with a word on what to do", async () => {
  const endless = scripted((path) => (path === "optim_step" ? json({ request_id: "r" }) : json({}, 408)), 1);
  await assert.rejects(endless.result(), withCode("engine.failed", /keeps it pending/));
  // 20 ms a question: 50 of them are a second
  assert.equal(endless.waits.length, 50);
});

test("a large payload that was announced is asked for whole", () => {
  const answer = { status: 200, type: "application/json", bytes: new Uint8Array() };
  const announced = { status: "complete_metadata", response_payload_size: 9 };
  assert.equal(meaningOf({ ...answer, json: announced }).kind, "whole");
});

test("through a network that loses, cuts and refuses, every step is applied once and in order", async () => {
  for (let seed = 0; seed < 50; seed++) {
    const random = randomStream(seed);
    const applied: number[] = [];
    const { over, asked } = scripted((path) => {
      const fate = random.next();
      if (fate < 0.1) return "lost"; // the request never arrives
      if (fate < 0.2) return json({ detail: "storm" }, fate < 0.15 ? 429 : 503);
      let reply = json({ metrics: {} });
      if (path === "optim_step") {
        const { seq_id } = JSON.parse(asked.at(-1)!.body);
        // a server knows a number that it has seen
        if (!applied.includes(seq_id)) applied.push(seq_id);
        reply = json({ request_id: `r${seq_id}` });
      }
      // the request arrives, its answer does not
      return fate < 0.3 ? "lost" : fate < 0.4 ? "cut" : reply;
    }, 3600);
    for (let seq_id = 1; seq_id <= 5; seq_id++) {
      await resultOf(over, "optim_step", { json: { seq_id } }, { type: "OptimStep" });
    }
    assert.deepEqual(applied, [1, 2, 3, 4, 5], `seed ${seed}`);
  }
});

test("a batch is cut where a request would hold too many datums or bytes", () => {
  // 4·3 + 64 for what is read, 8·3 + 32 for the targets, 4·3 + 32 for the weights: 176 bytes
  const datum = {
    model_input: textInput([1, 2, 3]),
    loss_fn_inputs: { target_tokens: idTensor(new Int32Array(3)), weights: floatTensor(new Float32Array(3)) },
  };
  const sizes = (count: number, most: number, bytes: number) =>
    chunksOf(Array(count).fill(datum), most, bytes).map((part) => part.length);
  assert.deepEqual(sizes(5, 2, 1e6), [2, 2, 1]);
  assert.deepEqual(sizes(5, 100, 2 * 176), [2, 2, 1]);
  assert.deepEqual(sizes(2, 100, 10), [1, 1]);
});

test("a server that is starting is waited for; one that is not there is given up after half a minute, with how to start it", async () => {
  const starting: readonly Reply[] = [
    "lost",
    json({ detail: "bad gateway" }, 502),
    json({ detail: "none" }, 404),
  ];
  const late = scripted((_, n) => starting[n]!);
  assert.equal((await reached(late.over)).status, 404);
  assert.deepEqual(late.waits, [250, 500]);

  const gone = scripted(() => "lost", 1800);
  await assert.rejects(openSession(gone.over, "tiny"), withCode("engine.failed", /whetstone serve --tinker/));
  const waited = gone.waits.reduce((a, b) => a + b, 0);
  assert.ok(waited >= 30_000 && waited < 33_000, `${waited} ms`);
});

test("who cannot be reached is told why, and what to do about that", async () => {
  const refusing = (words: string, code?: string) => () =>
    Promise.reject(Object.assign(new Error(words), { code }));
  const page = async () => new Response("<html>", { headers: { "Content-Type": "text/html" } });
  const rows: readonly (readonly [typeof fetch, RegExp])[] = [
    [refusing("self-signed certificate"), /seconds \(self-signed certificate\).*NODE_EXTRA_CA_CERTS/],
    [refusing("", "ECONNREFUSED"), /seconds \(ECONNREFUSED\).*whetstone serve --tinker/],
    [page, /seconds \(an answer of 6 bytes of text\/html that is no JSON\).*--url/],
  ];
  for (const [fetched, words] of rows) {
    const over = transport({ url: "http://stub", fetch: fetched, wait: async () => {} });
    await assert.rejects(reached(over), withCode("engine.failed", words));
  }
});

test("an address with the path of the API is that of the server", async () => {
  const asked: string[] = [];
  for (const url of [
    "http://stub/one",
    "http://stub/one/",
    "http://stub/one/api/v1",
    "http://stub/one/api/v1/",
  ]) {
    const fetched: typeof fetch = async (at) => {
      asked.push(String(at));
      return Response.json({});
    };
    await transport({ url, fetch: fetched }).send("get_server_capabilities");
  }
  assert.deepEqual(new Set(asked), new Set(["http://stub/one/api/v1/get_server_capabilities"]));
});

test("people are told within two seconds that a server does not answer, also one that takes calls and says nothing", async () => {
  for (const call of [() => Promise.reject(new TypeError("refused")), () => new Promise<never>(() => {})]) {
    const said: string[] = [];
    const over = transport({
      url: "http://stub",
      fetch: call,
      patienceSeconds: 2,
      say: (line) => void said.push(line),
    });
    const began = performance.now();
    await assert.rejects(reached(over), withCode("engine.failed", /no answer within 2 seconds/));
    assert.ok(performance.now() - began < 10_000);
    assert.match(said.join(), /Trying to reach http:\/\/stub/);
  }
});
