import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, test } from "node:test";
import OpenAI from "openai";
import { openTrafficStore } from "../../../src/store/openTrafficStore.ts";
import { openRunStore } from "../../../src/store/runStore.ts";
import { inProcess } from "../../cli/inProcess.ts";
import { run } from "../dashboard/world.ts";
import { scripted } from "./world.ts";

const folder = mkdtempSync(join(tmpdir(), "whetstone-serve-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const store = join(folder, "production.sqlite");
const main = join(import.meta.dirname, "../../../src/cli/main.ts");

const upstream = await scripted((body, response) => {
  const messages = body.messages as readonly { readonly content: string }[];
  const message = { role: "assistant", content: `You said ${messages.at(-1)?.content}` };
  const choices = [{ index: 0, message, finish_reason: "stop" }];
  response
    .writeHead(200, { "content-type": "application/json" })
    .end(JSON.stringify({ id: "x", object: "chat.completion", created: 1, model: "m", choices }));
});

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const out: T[] = [];
  for await (const item of items) out.push(item);
  return out;
}

/** The command as a person starts it. */
async function serve(...flags: string[]) {
  const child: ChildProcess = spawn(
    process.execPath,
    [main, "serve", "--json", "--port", "0", "--store", store, ...flags],
    { stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, UPSTREAM_KEY: "sk-upstream" } },
  );
  const words: string[] = [];
  child.stderr!.on("data", (text) => words.push(String(text)));
  const lines = createInterface({ input: child.stdout! })[Symbol.asyncIterator]();
  const next = async () => JSON.parse((await lines.next()).value ?? assert.fail(words.join("")));
  return {
    begun: await next(),
    words,
    async end(signal: NodeJS.Signals) {
      const exited = new Promise((resolve) => child.once("exit", resolve));
      child.kill(signal);
      const closed = await next();
      return { closed, code: await exited };
    },
  };
}

test("serve: an agent is recorded by its base URL alone, rated, and goes on after a restart", async () => {
  const flags = ["--upstream", upstream.url, "--upstream-key-env", "UPSTREAM_KEY", "--channels", "thumbs"];
  const first = await serve(...flags, "--redact", "email");
  const client = new OpenAI({ baseURL: `${first.begun.url}/v1`, apiKey: "none", maxRetries: 0 });
  const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: "user", content: "hello" }];
  const one = await client.chat.completions.create({ model: "m", messages });
  assert.equal(upstream.headers[0]!.authorization, "Bearer sk-upstream");
  const rated = await fetch(`${first.begun.url}/v1/feedback`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ response: one.id, kind: "score", channel: "thumbs", value: 1 }),
  });
  assert.equal(rated.status, 201, await rated.text());
  const private_ = [{ role: "user", content: "I am ann@example.org" }] as const;
  await client.chat.completions.create({ model: "m", messages: [...private_] });
  const health = JSON.parse(await (await fetch(`${first.begun.url}/healthz`)).text());
  assert.equal(health.status, "ok");
  assert.equal(health.gateway.calls, 2);
  const page = await fetch(`${first.begun.url}/inbox`);
  assert.match(page.headers.get("content-security-policy") ?? "", /default-src 'none'/);
  assert.match(await page.text(), /<title>/);
  const heard = JSON.parse(await (await fetch(`${first.begun.url}/api/inbox`)).text());
  assert.equal(heard.items[0].reply.said, "You said hello");
  const mistyped = await fetch(`${first.begun.url}/v1/chat/completion`);
  assert.deepEqual([mistyped.status, mistyped.headers.get("content-type")], [404, "application/json"]);
  const ended = await first.end("SIGINT");
  assert.deepEqual(ended, {
    closed: { type: "closed", calls: 2, complete: 2, cut: 0, failed: 0, recorded: 2, lost: 0 },
    code: 0,
  });

  const second = await serve(...flags);
  const again = new OpenAI({ baseURL: `${second.begun.url}/v1`, apiKey: "none", maxRetries: 0 });
  messages.push(one.choices[0]!.message, { role: "user", content: "and on" });
  await again.chat.completions.create({ model: "m", messages });
  assert.deepEqual(second.begun.versions, first.begun.versions);
  await second.end("SIGTERM");

  const production = await openTrafficStore(store);
  const responses = await all(production.responses());
  const signals = await all(production.signals());
  await production.close();
  assert.deepEqual(
    responses.map(({ trajectory, turn }) => [trajectory === responses[0]!.trajectory, turn]),
    [
      [true, 0],
      [false, 0],
      [true, 1],
    ],
  );
  assert.equal(responses[1]!.prompt[0]!.content, "I am [email]");
  assert.deepEqual(
    signals.map(({ about, value }) => [about[0]!.response, value]),
    [[one.id, 1]],
  );
  assert.doesNotMatch(first.words.join("") + second.words.join(""), /sk-upstream/);
  await upstream.close();
});

test("serve: an agent's own key goes to the upstream that was named at the start, and to no other", async () => {
  const hi = (_: unknown, response: ServerResponse) =>
    response.end(JSON.stringify({ choices: [{ message: { content: "hi" }, finish_reason: "stop" }] }));
  const [meant, other] = [await scripted(hi), await scripted(hi)];
  const fresh = join(folder, "keys.sqlite");
  const { begun, end } = await serve("--upstream", meant.url, "--store", fresh);
  const post = async (path: string, body: object, headers: Record<string, string> = {}) => {
    const answer = await fetch(`${begun.url}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    });
    assert.ok(answer.ok, `${path} ${answer.status}`);
    return JSON.parse(await answer.text());
  };
  const theirs = { authorization: "Bearer sk-agent", "openai-organization": "org-agent", "x-title": "agent" };
  const ask = () => post("/v1/chat/completions", { messages: [{ role: "user", content: "hello" }] }, theirs);
  try {
    const added = await post("/v1/versions", { url: other.url, model: "other" });
    const sameServer = await post("/v1/versions", { url: `${meant.url}/`, model: "same server" });
    await ask();
    for (const id of [added.id, sameServer.id]) {
      const { id: split } = await post("/v1/splits", { shares: { [id]: 1 } });
      for (let now = ""; now !== split; ) {
        await new Promise((go) => setTimeout(go, 100));
        now = JSON.parse(await (await fetch(`${begun.url}/healthz`)).text()).split;
      }
      await ask();
      await (await fetch(`${begun.url}/v1/models`, { headers: theirs })).text();
    }
    const sent = ({ headers }: typeof meant) =>
      headers.map((all) => [all.authorization, all["openai-organization"], all["x-title"]]);
    assert.deepEqual(sent(other), Array(2).fill([undefined, undefined, "agent"]));
    assert.deepEqual(sent(meant), Array(3).fill(["Bearer sk-agent", "org-agent", "agent"]));
  } finally {
    await end("SIGTERM");
    await Promise.all([meant.close(), other.close()]);
  }
});

test("serve: whoever writes about runs waits for a version that is being written, and nobody else does", async () => {
  const runs = await openRunStore(store);
  await runs.startRun(run("one"));
  await runs.close();
  const { begun, end } = await serve("--upstream", upstream.url);
  const post = async (path: string, body: object): Promise<number> =>
    (
      await fetch(`${begun.url}${path}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
        // a store that waited in the thread that answers would wait for itself, for 10 s
        signal: AbortSignal.timeout(8000),
      })
    ).status;
  const over = begun.versions[0];
  const told = (i: number) => ({ name: "n", kind: "instructions", files: { "system.md": `Be brief ${i}.` } });
  try {
    const statuses = await Promise.all(
      Array.from({ length: 12 }, (_, i) => [
        post("/v1/versions", { artefact: told(i), over }),
        post("/api/runs/one/tags", { tags: [`tag ${i}`] }),
      ]).flat(),
    );
    assert.deepEqual(new Set(statuses), new Set([200, 201]));
  } finally {
    await end("SIGTERM");
  }
});

test("serve says at the door what cannot be served", async () => {
  const other = ["--store", join(folder, "other.sqlite"), "--port", "0"];
  for (const [flags, said] of [
    [[], /no version that could answer.*--upstream or a --policy/],
    [["--upstream", "http://169.254.169.254/v1"], /metadata address/],
    [["--upstream", "nonsense"], /base URL of an OpenAI-compatible server/],
    [["--upstream", "http://a/v1", "--policy", "x"], /both --upstream and --policy/],
    [["--upstream", "http://a/v1", "--openenv", "facts"], /both --openenv and --upstream/],
    [["--tinker", "--openenv", "facts"], /both --openenv and --tinker/],
    [["--tinker", "--model", join(folder, "none"), "--checkpoints", folder], /a checkpoint's folder/],
    [["--upstream", "http://a/v1", "--upstream-key-env", "NOT_SET"], /NOT_SET/],
    [["--upstream", "http://a/v1", "--host", "0.0.0.0"], /keys create/],
    [["--upstream", "http://a/v1", "--redact", "emial"], /Did you mean email/],
    [["--upstream", "http://a/v1", "--origin", "https://a.example/app"], /Write https:\/\/a\.example\./],
    [["--upstream", "http://a/v1", "--origin", "a.example"], /scheme, name and port/],
    [["--policy", join(folder, "none")], /none/],
  ] as const) {
    const { code, err } = await inProcess(["serve", ...flags, ...other]);
    assert.equal(code, 2, err);
    assert.match(err, said);
  }
});

test("serve --policy: a model's file answers as it is, in streams, and reads a conversation on", async () => {
  const file = join(import.meta.dirname, "../../engine/local/fixtures/gguf/smollm.gguf");
  const { begun, end } = await serve("--policy", file, "--store", join(folder, "file.sqlite"));
  try {
    assert.match(begun.versions[0], /^gguf-smollm/);
    const client = new OpenAI({ baseURL: `${begun.url}/v1`, apiKey: "none", maxRetries: 0 });
    const messages = [{ role: "user", content: "one two three one two" }] as const;
    const ask = async () => {
      const stream = await client.chat.completions.create({
        ...{ model: "m", messages: [...messages], max_tokens: 8, temperature: 0 },
        ...{ stream: true as const, stream_options: { include_usage: true } },
      });
      const chunks: OpenAI.ChatCompletionChunk[] = [];
      for await (const chunk of stream) chunks.push(chunk);
      return chunks;
    };
    const text = (chunks: OpenAI.ChatCompletionChunk[]) =>
      chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join("");
    const [first, again] = [await ask(), await ask()];
    assert.equal(text(again), text(first));
    const { completion_tokens, prompt_tokens_details } = again.at(-1)!.usage!;
    assert.equal(completion_tokens, first.at(-1)!.usage!.completion_tokens);
    assert.ok(prompt_tokens_details!.cached_tokens! >= 32);
    assert.equal(first.at(-1)!.usage!.prompt_tokens_details!.cached_tokens, 0);
  } finally {
    await end("SIGTERM");
  }
});

test("serve --log json: the log is one object a line", async () => {
  const hi = await scripted((_, response) => {
    const choices = [{ index: 0, message: { role: "assistant", content: "hi" }, finish_reason: "stop" }];
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ choices }));
  });
  const { begun, words, end } = await serve("--upstream", hi.url, "--log", "json");
  const client = new OpenAI({ baseURL: `${begun.url}/session/twice/v1`, apiKey: "none", maxRetries: 0 });
  const asked = { model: "m", messages: [{ role: "user", content: "the same" }] } as const;
  for (const _ of [1, 2]) await client.chat.completions.create({ ...asked, messages: [...asked.messages] });
  await end("SIGTERM");
  await hi.close();
  const lines = words
    .join("")
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line));
  const cut = lines.find(({ message }) => /^chatcmpl\S+: a new trajectory .* \(retried\)$/.test(message));
  assert.match(cut?.time ?? words.join(""), /^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
  assert.deepEqual([cut.level, typeof cut.response], ["info", "string"]);
  assert.doesNotMatch(words.join(""), /twice/, "a log outlives what is erased");
});
