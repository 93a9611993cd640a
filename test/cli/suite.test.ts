/** `whetstone eval --suite`, as scripts meet it. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import type { Io } from "../../src/cli/output.ts";
import { runCommand } from "../../src/cli/program.ts";

const main = fileURLToPath(new URL("../../src/cli/main.ts", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "whetstone-suite-"));
after(() => rmSync(folder, { recursive: true, force: true }));

function whetstone(...args: readonly string[]): Promise<{ code: number | null; out: string; err: string }> {
  return new Promise((resolve) => {
    const env = { ...process.env, NO_COLOR: "1" };
    const child = spawn(process.execPath, [main, ...args], { cwd: folder, env });
    let [out, err] = ["", ""];
    child.stdout.on("data", (chunk: Buffer) => (out += chunk.toString()));
    child.stderr.on("data", (chunk: Buffer) => (err += chunk.toString()));
    child.on("close", (code) => resolve({ code, out, err }));
  });
}

/** The command within this process: what it says, and its exit code. */
async function within(...args: readonly string[]): Promise<{ code: number; out: string; err: string }> {
  let [out, err] = ["", ""];
  const io: Io = {
    json: false,
    debug: false,
    terminal: false,
    width: 100,
    code: 0,
    write: (text) => void (out += text),
    say: (...lines) => void (out += `${lines.join("\n")}\n`),
    error: (line) => void (err += `${line}\n`),
    record: () => {},
  };
  const code = await runCommand(args, io);
  return { code, out, err };
}

const suite = ["--suite", "multiturninstruct"];

test("a suite measures a trained run: a table, JSON rows with intervals, a Markdown report", async () => {
  const room = new URL("../../src/env/index.ts", import.meta.url);
  const source = `import { entangledInstructions } from ${JSON.stringify(room)};\nexport default entangledInstructions({ perCategory: 1 });\n`;
  writeFileSync(join(folder, "few.ts"), source);
  const train = ["--env", "few.ts", "--engine", "tabular", "--iterations", "1", "--group-size", "2"];
  const trained = await whetstone("train", ...train, "--out", "runs/entangled");
  assert.equal(trained.code, 0, trained.err);
  const { code, out, err } = await whetstone(
    ...["eval", "runs/entangled", ...suite, "--tasks", "9", "--json", "--out", "reports/r.md"],
  );
  assert.equal(code, 0, err);
  const report = JSON.parse(out);
  assert.deepEqual(
    [report.type, report.suite, report.agent, report.mode, report.failed],
    ["suite", "multiturninstruct", "runs/entangled", "sampled", 0],
  );
  const all = report.rows.find((row: { name: string }) => row.name === "all");
  assert.equal(all.value.n, 9);
  assert.ok(all.value.low <= all.value.mean && all.value.mean <= all.value.high);
  assert.match(err, /multiturninstruct: 9 of 9/);
  assert.match(err, /level 3 +0\.0 % +0\.0 % to /);
  const page = readFileSync(join(folder, "reports", "r.md"), "utf8");
  assert.match(page, /^# multiturninstruct: runs\/entangled\n/);
  assert.match(page, /\| level 1 \| .* % \| .* \| 3 \|/);
});

test("a scripted player stands in for a run", async () => {
  const { code, out, err } = await within("eval", ...suite, "--player", "expert", "--tasks", "18");
  assert.equal(code, 0, err);
  assert.match(out, /level 3 +100\.0 %/);
  assert.match(out, /the expert player/);
});

/** The suite's report on a chat model that always says the same. */
async function ofChat(content: string) {
  const reply = {
    id: "1",
    object: "chat.completion",
    created: 0,
    model: "m",
    choices: [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  };
  const server = createServer((request, response) => {
    request.resume().on("end", () => {
      response.setHeader("content-type", "application/json").end(JSON.stringify(reply));
    });
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const address = server.address();
  assert.ok(typeof address === "object" && address !== null);
  try {
    return await within(
      ...["eval", "--suite", "plan-rewardbench", "--chat", `http://127.0.0.1:${address.port}/v1`],
      ...["--model", "m", "--tasks", "6", "--cache", join(folder, "chat", content)],
    );
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

test("a chat model is measured: one that always says first is right half of the time, all of it bias", async () => {
  const { code, out, err } = await ofChat("The first.");
  assert.equal(code, 0, err);
  assert.match(out, /all pairs +50\.0 %/);
  assert.match(out, /position: first beyond ½ +0\.5 /);
  assert.match(out, /same winner in both orders +0\.0 %/);
  assert.match(out, /m at http:\/\/127/);
  assert.match(err, /12 calls/);
});

test("a judge without an answer is not measured as a wrong one", async () => {
  const { code, out, err } = await ofChat("Neither.");
  assert.equal(code, 1);
  assert.match(out, /all pairs +– +– +0/);
  assert.match(out, /6 failed episodes are left out/);
  assert.match(err, /nothing could be measured/);
});

test("what a suite does not take is said in one line, and nothing is written", async () => {
  const cases: [string[], RegExp][] = [
    [["eval", "--suite", "multiturninstrukt"], /--suite.*Did you mean multiturninstruct\?/],
    [
      ["eval", ...suite],
      /nothing to measure, expected one of a run or checkpoint, --player, --model, or --chat/,
    ],
    [["eval", "x", ...suite, "--player", "expert"], /got x and --player, expected one of/],
    [["eval", ...suite, "--player", "experto"], /Did you mean expert\?/],
    [["eval", ...suite, "--player", "expert", "--env", "maze"], /--env: got maze beside --suite/],
    [["eval", ...suite, "--player", "expert", "--fail-under", "0.5"], /--fail-under: got 0.5 beside --suite/],
    [["eval", "x", "--out", "r.md"], /--out: got r.md without a suite/],
    [["eval"], /nothing to measure/],
  ];
  for (const [args, words] of cases) {
    const { code, out, err } = await within(...args);
    assert.match(err, words);
    assert.equal(err.trim().split("\n").length, 1, err);
    assert.deepEqual([code, out], [2, ""]);
  }
  assert.ok(!existsSync("r.md"));
});
