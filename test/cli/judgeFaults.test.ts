/** `whetstone judge` as a process, against judges that hang, flood, fail or keep timers: it reports each as what it is, and ends. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import { join } from "node:path";
import { after, test } from "node:test";
import { temporary } from "../temporary.ts";

const folder = mkdtempSync(join(temporary, "whetstone-faults-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const written = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};
const pair = { prompt: "Name a prime.", a: "Seven", b: "Nine", preferred: "a" };
const labels = written("labels.jsonl", JSON.stringify(pair));

async function serving(answer: (response: ServerResponse) => void): Promise<string> {
  const server = createServer((request, response) => {
    request.resume();
    request.on("end", () => answer(response));
  });
  await new Promise<void>((go) => server.listen(0, "127.0.0.1", go));
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  return `http://127.0.0.1:${typeof address === "object" && address ? address.port : 0}/v1`;
}

/** The command as a process; killed, and an error, after 30 seconds. */
async function judging(...judge: readonly string[]) {
  const main = join(import.meta.dirname, "../../src/cli/main.ts");
  const args = ["judge", "--against", labels, ...judge, "--cache", join(folder, "cache")];
  const child = spawn(process.execPath, [main, ...args], { stdio: ["ignore", "pipe", "pipe"] });
  let [out, err] = ["", ""];
  child.stdout.on("data", (d) => (out += d));
  child.stderr.on("data", (d) => (err += d));
  const watch = setTimeout(() => child.kill("SIGKILL"), 30_000);
  const [code, signal] = await new Promise<[number | null, string | null]>((go) =>
    child.on("close", (...ended) => go(ended)),
  );
  clearTimeout(watch);
  assert.equal(signal, null, `the process did not end by itself: ${out}${err}`);
  return { code, out, err };
}
const chat = (url: string, ...more: readonly string[]) => judging("--chat", url, "--model", "tiny", ...more);

test("a server that hangs: the calls time out, and the process ends", async () => {
  const { code, out } = await chat(await serving(() => undefined), "--timeout", "1");
  assert.equal(code, 1);
  assert.match(out, /0 answered, 3 timed out/);
});

test("a server that only answers 500 is reported as that, and not as late", async () => {
  const { code, out, err } = await chat(
    await serving((response) => void response.writeHead(500).end('{"error":{"message":"out of memory"}}')),
    "--timeout",
    "3",
  );
  assert.equal(code, 1);
  assert.match(out, /0 answered, 3 failed/);
  assert.match(err, /out of memory/);
});

test("a server that never stops sending is cut off, with its own error", async () => {
  const much = Buffer.alloc(2 ** 20, "x");
  const { code, out, err } = await chat(
    await serving((response) => {
      response.setHeader("content-type", "application/json");
      const more = (): void => {
        while (!response.destroyed && response.write(much));
        response.once("drain", more);
      };
      more();
    }),
  );
  assert.equal(code, 1);
  assert.match(out + err, /more than 16 MiB/);
});

test("a judge in a file that keeps a timer keeps no process", async () => {
  const judge = written(
    "timer.ts",
    'setInterval(() => {}, 1000); export default { name: "timer", compare: async () => 0.9 };',
  );
  const { code, out } = await judging("--evaluator", judge);
  assert.equal(code, 0);
  assert.match(out, /1 of 1 pair judged/);
});

test("a judge in a file is told when nobody waits any longer", async () => {
  const judge = written(
    "told.ts",
    `export default { name: "told", compare: (a, b, { signal }) => new Promise((go) =>
       signal.addEventListener("abort", () => console.error("told:", signal.reason.message))) };`,
  );
  const { out, err } = await judging("--evaluator", judge, "--timeout", "0.2", "--repeats", "0");
  assert.match(out, /2 timed out/);
  assert.match(err, /told: no answer within 0\.2 s/);
});
