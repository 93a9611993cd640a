/**
 * Records what the tinker SDK's own client sends to our server, byte for byte, and what it is answered.
 *
 *     node bench/tinker-golden.ts --python /path/to/python
 *
 * The Python has tinker and torch. Writes test/serve/tinker/golden.data.json, which the tests send to a server again.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { openBase, tinyBase } from "../src/serve/tinker/bases.ts";
import { tinkerServer } from "../src/serve/tinker/server.ts";
import { type Exchange, numbered } from "../test/serve/tinker/golden.ts";

const { values } = parseArgs({
  options: {
    python: { type: "string", default: "python3" },
    out: { type: "string", default: join(import.meta.dirname, "../test/serve/tinker/golden.data.json") },
  },
});
const folder = await mkdtemp(join(tmpdir(), "tinker-"));
const base = await openBase(await tinyBase(folder), { threads: 1 });
const server = await tinkerServer({ bases: [base], folder, unique: numbered() });
const recorded: Exchange[] = [];
/** What comes by the clock, and says nothing of a run. */
const idle = /\/(healthz|client\/\w+|telemetry|session_heartbeat)$/;

const proxy = createServer(async (request, response) => {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part);
  const body = Buffer.concat(parts);
  const { method = "GET", url = "/" } = request;
  const kept = ["content-type", "content-encoding", "accept", "x-api-key", "x-idempotency-key"];
  const headers = Object.fromEntries(
    kept.flatMap((name) => {
      const value = request.headers[name];
      return typeof value === "string" ? [[name, value]] : [];
    }),
  );
  const answer = await fetch(server.url + url, { method, headers, ...(body.length > 0 && { body }) });
  const bytes = Buffer.from(await answer.arrayBuffer());
  const type = answer.headers.get("content-type") ?? "";
  response.writeHead(answer.status, { "content-type": type }).end(bytes);
  if (idle.test(url) || answer.status === 408) return;
  const { "x-idempotency-key": _, ...said } = headers;
  recorded.push({
    method,
    path: url,
    headers: said,
    body: body.toString("base64"),
    status: answer.status,
    type,
    answer: bytes.toString("base64"),
  });
});
proxy.listen(0, "127.0.0.1");
await once(proxy, "listening");
const at = proxy.address();
const url = `http://127.0.0.1:${typeof at === "object" && at ? at.port : 0}`;
try {
  const child = spawn(values.python, [join(import.meta.dirname, "peers/tinker_golden.py"), url, "tiny"], {
    stdio: ["ignore", "inherit", "inherit"],
    env: { ...process.env, HF_HUB_OFFLINE: "1" },
  });
  const [code] = await once(child, "close");
  if (code !== 0) throw new Error(`tinker_golden.py ended with ${code}`);
  await writeFile(values.out, `[\n${recorded.map((one) => JSON.stringify(one)).join(",\n")}\n]\n`);
  console.log(`${recorded.length} requests and their answers: ${values.out}`);
} finally {
  proxy.close();
  proxy.closeAllConnections();
  await server.close();
  await rm(folder, { recursive: true });
}
