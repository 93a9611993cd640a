import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { mintKey } from "../../src/serve/keys.ts";
import { openTrafficStore } from "../../src/store/openTrafficStore.ts";

const main = join(import.meta.dirname, "..", "..", "src", "cli", "main.ts");
const upstreamKey = "sk-upstream-4f1d6e0c9b7a";
const signingSecret = "signing-secret-that-is-long-enough-5e7b";

test("nothing that is printed, answered in error or stored holds a secret", async () => {
  const folder = mkdtempSync(join(tmpdir(), "whetstone-secrets-"));
  const store = join(folder, "store.sqlite");
  const { secret, key } = mintKey(
    { label: "app", scopes: ["chat", "feedback", "read", "admin"] },
    Date.now(),
  );
  const production = await openTrafficStore(store);
  await production.putKey(key);
  await production.close();
  // an upstream that fails, and then is gone
  let authorised = "";
  const upstream = createServer((request, response) => {
    authorised = request.headers.authorization ?? "";
    response.writeHead(500, { "content-type": "application/json" }).end('{"error":{"message":"broken"}}');
  }).listen(0, "127.0.0.1");
  await once(upstream, "listening");
  const address = upstream.address();
  const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}/v1`;
  const args = ["serve", "--upstream", url, "--upstream-key-env", "UPSTREAM_KEY", "--store", store];
  const server = spawn(process.execPath, [main, ...args, "--port", "0", "--json", "--debug"], {
    env: { ...process.env, UPSTREAM_KEY: upstreamKey, WHETSTONE_SIGNING_SECRET: signingSecret },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let printed = "";
  server.stderr.on("data", (text) => {
    printed += text;
  });
  const lines = createInterface({ input: server.stdout });
  lines.on("line", (line) => {
    printed += `${line}\n`;
  });
  const [first] = await once(lines, "line");
  const at: string = JSON.parse(first).url;
  let answered = "";
  const ask = async (method: string, path: string, body?: unknown, token = secret): Promise<string> => {
    const answer = await fetch(`${at}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    answered += `${text}\n${JSON.stringify([...answer.headers])}\n`;
    return text;
  };
  const chat = { model: "m", messages: [{ role: "user", content: "hello" }] };
  const about = { session: "s1" };
  const { token } = JSON.parse(await ask("POST", "/v1/feedback/tokens", about));
  answered = "";
  await ask("POST", "/v1/chat/completions", chat);
  await ask("POST", "/v1/chat/completions", { messages: secret });
  await ask("POST", "/v1/feedback", { kind: "outcome", ...about, value: 1 }, token);
  await ask("POST", "/v1/feedback", { kind: "outcome", ...about, value: "x" }, token);
  await ask("GET", "/v1/keys");
  await ask("GET", "/v1/keys", undefined, `${secret.slice(0, -1)}_`);
  await ask("GET", "/v1/keys", undefined, token);
  await ask("GET", "/healthz");
  upstream.close();
  upstream.closeAllConnections();
  await ask("POST", "/v1/chat/completions", chat);
  server.kill("SIGTERM");
  await once(server, "exit");
  assert.equal(authorised, `Bearer ${upstreamKey}`);
  assert.ok(printed.includes('"type":"serving"') && /failed/.test(printed), printed);
  const files = readdirSync(folder).map((name) => readFileSync(join(folder, name), "latin1"));
  const everything = [printed, answered, ...files];
  const secrets = { key: secret.slice(-43), token, upstreamKey, signingSecret, ours: secret };
  for (const [name, value] of Object.entries(secrets)) {
    for (const text of everything) assert.ok(!text.includes(value), `${name} in: ${text.slice(0, 2000)}`);
  }
  assert.ok(!answered.includes(key.hash));
  rmSync(folder, { recursive: true });
});
