/** `whetstone judge STORE --live` over an outage of its model: it says why, goes on once it is over, and keeps what was paid for. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { after, test } from "node:test";
import { openTrafficStore } from "../../src/store/openTrafficStore.ts";
import { assistant, response, user } from "../exchange/served.ts";
import { temporary } from "../temporary.ts";
import { chatServer } from "./chatServer.ts";
import { inProcess } from "./inProcess.ts";

const folder = mkdtempSync(join(temporary, "whetstone-outage-"));
after(() => rmSync(folder, { recursive: true, force: true }));

async function storeWith(...ids: readonly string[]): Promise<string> {
  const where = join(folder, `${ids.join("-")}.sqlite`);
  const store = await openTrafficStore(where);
  await store.write(
    ids.map((id) => ({
      kind: "response" as const,
      response: response({
        ...{ id, session: `s-${id}`, trajectory: `s-${id}/0`, version: "v1", at: Date.now() - 3_600_000 },
        prompt: [user(`for ${id}`)],
        choices: [{ message: assistant("please"), stop: "eos" as const }],
      }),
    })),
  );
  await store.close();
  return where;
}

const scoresIn = async (where: string): Promise<number> => {
  const store = await openTrafficStore(where);
  const found = await Array.fromAsync(store.signals({ channel: "judge" }));
  await store.close();
  return found.length;
};

const flags = (url: string): readonly string[] => [
  ...["--chat", url, "--model", "tiny", "--cache", join(folder, "cache")],
  ...["--live", "--every", "1s"],
];

test("a refused key is said as that; the command waits, judges once it is taken, and a Ctrl-C keeps the running answer", async () => {
  const where = await storeWith("a", "b", "slow");
  let refused = 0;
  let slow: (() => void) | undefined;
  const asked = new Promise<void>((go) => {
    slow = go;
  });
  const server = createServer(async (request, to) => {
    const body = await new Response(request as never).text();
    to.setHeader("content-type", "application/json");
    if (refused < 2) {
      refused++;
      to.writeHead(401).end('{"error":{"message":"this key has expired"}}');
      return;
    }
    const message = { role: "assistant", content: '{"why": "so", "score": 0.7}' };
    const said = JSON.stringify({ id: "r", choices: [{ index: 0, message, finish_reason: "stop" }] });
    if (!body.includes("for slow")) to.end(said);
    else {
      slow?.();
      setTimeout(() => to.end(said), 1500);
    }
  });
  await new Promise<void>((go) => server.listen(0, "127.0.0.1", go));
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === "object" && address ? address.port : 0}/v1`;
  const main = join(import.meta.dirname, "../../src/cli/main.ts");
  const child = spawn(process.execPath, [main, "judge", where, ...flags(url), "--concurrency", "1"], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  after(() => child.kill("SIGKILL"));
  let [out, err] = ["", ""];
  child.stdout.on("data", (d) => (out += d));
  child.stderr.on("data", (d) => (err += d));
  const ended = new Promise<number | null>((go) => child.on("close", go));
  const early = ended.then(() => assert.fail(`it ended: ${out}${err}`));
  await Promise.race([asked, early]);
  child.kill("SIGINT");
  assert.equal(await ended, 0, err);
  assert.match(err, /No judgements: .*401, "this key has expired".*Check the key .*Asking again in 1 s/);
  assert.ok(!/budget/.test(err), err);
  const kept = await scoresIn(where);
  assert.ok(kept >= 1, `${out}${err}`);
  assert.match(out, new RegExp(`${kept} judged`));
  assert.match(out, /s-slow\/0/);
});

test("--once: an outage and a spent budget are each said as what they are", async () => {
  const gone = await inProcess(["judge", await storeWith("c"), ...flags("http://127.0.0.1:1/v1"), "--once"]);
  assert.equal(gone.code, 1);
  assert.match(gone.err, /could not connect.*The same command goes on/);
  const url = await chatServer(() => '{"why": "so", "score": 0.7}');
  const where = await storeWith("d", "e", "f");
  const spent = await inProcess(["judge", where, ...flags(url), "--once", "--max-calls", "2"]);
  assert.equal(spent.code, 1);
  assert.match(spent.err, /2 calls of 2 used.*The same command with another budget goes on/);
  assert.equal(await scoresIn(where), 2);
});
