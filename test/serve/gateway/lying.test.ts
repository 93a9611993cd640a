/** Answers that are made to hold a gateway up, or to make it lose others. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { mintKey } from "../../../src/serve/keys.ts";
import { before } from "./world.ts";

const json = { "content-type": "application/json" };
const ask = (url: string, more: object = {}, headers: Record<string, string> = {}) =>
  fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { ...json, ...headers },
    body: JSON.stringify({ messages: [{ role: "user", content: "hello" }], ...more }),
  });
const choices = '"choices":[{"index":0,"message":{"role":"assistant","content":"a"},"finish_reason":"stop"}]';
const deep = (levels: number): string => "[".repeat(levels) + "]".repeat(levels);

/** Milliseconds of the longest stretch of work without a turn of the event loop. */
async function longestWhile(work: () => Promise<void>): Promise<number> {
  let [longest, turn] = [0, process.threadCpuUsage()];
  const look = (): void => {
    const { user, system } = process.threadCpuUsage(turn);
    longest = Math.max(longest, (user + system) / 1000);
    turn = process.threadCpuUsage();
  };
  const looking = setInterval(look, 1);
  await work();
  look();
  clearInterval(looking);
  return longest;
}

test("whatever an answer holds, its call ends, and the client gets it or one line", async () => {
  const answers: Record<string, string> = {
    deep: `{"id":"\\u0061",${choices},"x":${deep(100_000)}}`,
    "less deep": `{"id":"\\u0061",${choices},"x":${deep(30_000)}}`,
    "deep error": `{"id":"a",${choices},"error":${deep(1)},"error":{"x":${deep(30_000)}}}`,
    "long id": `{"id" : "${"x".repeat(12e6)}",${choices}}`,
    "longer id": `{"id" : "${"x".repeat(30e6)}",${choices}}`,
    "patterns in its id": `{"id" : "(a+)+$[",${choices}}`,
    lists: `{"id":"a",${choices},"x":[${"[],".repeat(5e6)}0]}`,
    names: `{"id":"a",${choices},"x":{${Array.from({ length: 60_000 }, (_, i) => `"k${i}":{}`)}}}`,
    choices: `{"id":"a","choices":[${Array.from({ length: 6000 }, (_, index) => `{"index":${index}}`)}]}`,
  };
  const g = await before(({ model }, response) => {
    response.writeHead(200, json).end(answers[String(model)]);
  });
  const read = new Set(["long id", "patterns in its id"]);
  for (const [model, answer] of Object.entries(answers)) {
    const got = await ask(g.url, { model });
    const text = await got.text();
    assert.equal(got.status, 200, model);
    const id = got.headers.get("x-whetstone-response");
    if (read.has(model)) assert.equal(text, answer.replace(/"id" : "[^"]+"/, `"id" : "${id}"`), model);
    else assert.equal(text === answer, true, model);
    await g.recorded(1);
    const [response] = g.responses.splice(0);
    assert.equal(response?.status, read.has(model) ? "complete" : "failed", model);
    assert.equal(g.state().running, 0, model);
    const lines = g.lines.splice(0);
    assert.deepEqual(lines.length, read.has(model) ? 0 : 1, lines.join("\n"));
    if (!read.has(model))
      assert.match(lines[0]!, /^chatcmpl-\w+ failed: the answer was passed on unread: .{1,80}$/);
  }
  await g.close();
});

test("an answer that cannot be read is a 502 where the version asks for more than the client did", async () => {
  const g = await before(
    ({ stream }, response) => {
      const body = `{"id":"a",${choices},"x":${deep(100_000)}}`;
      response.writeHead(200, stream ? { "content-type": "text/event-stream" } : json);
      response.end(stream ? `data: ${body}\n\n` : body);
    },
    { of: { exact: "raw" } },
  );
  const got = await ask(g.url);
  assert.equal(got.status, 502);
  const { error } = JSON.parse(await got.text());
  assert.equal(error.code, "upstream_unreadable");
  assert.doesNotMatch(error.message, /\n/);
  assert.equal((await g.recorded(1))[0]?.status, "failed");
  await assert.rejects(ask(g.url, { stream: true }).then((answer) => answer.text()));
  assert.notEqual((await g.recorded(2))[1]?.status, "complete");
  assert.equal(g.state().running, 0);
  await g.close();
});

test("a stream with an event that cannot be read comes through byte for byte, and holds nobody up", async () => {
  const one = 'data: {"id":"u","choices":[{"index":0,"delta":{"content":"a"},"finish_reason":"stop"}]}\n\n';
  const streams: Record<string, string> = {
    values: `data: {"x":[${"[],".repeat(4e6)}0]}\n\n${one}data: [DONE]\n\n`,
    lines: `${"data:\n".repeat(2e6)}\n${one}`,
    choices: Array.from(
      { length: 6000 },
      (_, index) => `data: {"choices":[{"index":${index},"delta":{}}]}\n\n`,
    ).join(""),
    done: `${one}${"data: [DONE]\n\n".repeat(200_000)}`,
  };
  const g = await before(({ model }, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" }).end(streams[String(model)]);
  });
  for (const [model, stream] of Object.entries(streams)) {
    let text = "";
    const longest = await longestWhile(async () => {
      text = await (await ask(g.url, { model, stream: true })).text();
    });
    assert.equal(model === "done" ? text.length > stream.length : text === stream, true, model);
    await g.recorded(1);
    const [response] = g.responses.splice(0);
    assert.equal(response?.status, model === "done" ? "complete" : "failed", model);
    // the upstream and the client work in this process as well
    assert.ok(longest < 400, `${model}: ${longest} ms`);
  }
  await g.close();
});

test("a session whose only call failed is its caller's", async () => {
  let down = true;
  const g = await before((_, response) => {
    if (down) response.destroy();
    else response.writeHead(200, json).end(`{"id":"a",${choices}}`);
  });
  const bob = mintKey({ label: "bob", scopes: ["chat"], only: { user: "bob" } }, Date.now());
  const page = mintKey({ label: "page", scopes: ["chat"], only: { session: "vfail" } }, Date.now());
  g.keys.push(bob.key, page.key);
  const named = { "x-whetstone-session": "vfail" };
  assert.equal((await ask(g.url, {}, { ...named, "x-whetstone-user": "ann" })).status, 502);
  down = false;
  const strange = await ask(g.url, {}, { ...named, authorization: `Bearer ${bob.secret}` });
  assert.equal(strange.status, 403);

  // a key for the session speaks for ann alone
  const status = async (more: Record<string, string>, body: object = {}): Promise<unknown> => {
    const answer = await ask(g.url, body, { authorization: `Bearer ${page.secret}`, ...more });
    const text = await answer.text();
    return answer.status === 200 ? 200 : JSON.parse(text).error.code;
  };
  assert.equal(await status({ "x-whetstone-user": "bob" }), "narrowed_key");
  assert.equal(await status({ "x-whetstone-user": "ann" }), 200);
  assert.equal(await status({}), 200);
  assert.equal(await status({}, { user: "bob" }), 200);
  assert.equal(await status({}, { user: "ann" }), 200);
  assert.deepEqual(
    (await g.recorded(5)).slice(1).map(({ user }) => user),
    ["ann", undefined, undefined, "ann"],
  );
  await g.close();
});

test("a key for a session that nobody has called in names no user", async () => {
  const g = await before((_, response) => response.writeHead(200, json).end(`{"id":"a",${choices}}`));
  const page = mintKey({ label: "page", scopes: ["chat"], only: { session: "new" } }, Date.now());
  g.keys.push(page.key);
  const key = { authorization: `Bearer ${page.secret}` };
  assert.equal((await ask(g.url, {}, { ...key, "x-whetstone-user": "bob" })).status, 403);
  assert.equal((await ask(g.url, { user: "bob" }, key)).status, 200);
  assert.equal((await g.recorded(1))[0]?.user, undefined);
  await g.close();
});

test("closing keeps the process until all that was answered is on disk, also where a call never ends", async () => {
  const script = join(import.meta.dirname, "stuck.ts");
  const { stdout } = await promisify(execFile)(process.execPath, [script]);
  assert.equal(stdout, "20 of 20\n");
});
