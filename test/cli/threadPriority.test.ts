/** What `whetstone serve` makes of a single core. */
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { getPriority, tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { compileInBackground, singleCoreFlags } from "../../src/cli/threadPriority.ts";
import { lowerPriority } from "../../src/common/files/threadPriority.ts";

const main = fileURLToPath(new URL("../../src/cli/main.ts", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "whetstone-core-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const skip =
  process.platform !== "linux" || spawnSync("taskset", ["--version"]).status !== 0
    ? "needs Linux and its taskset"
    : typeof process.execve !== "function"
      ? "needs a Node with execve"
      : false;

test("serve on one core: no helpers collect garbage, and what compiles takes what is left", {
  skip,
}, async () => {
  const command = [process.execPath, main, "serve", "--openenv", "facts", "--port", "0"];
  const child = spawn("taskset", ["-c", "0", ...command], {
    cwd: folder,
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    const lines = createInterface({ input: child.stdout });
    const said = await new Promise<string>((resolve) => lines.once("line", resolve));
    assert.match(said, /http:\/\/127\.0\.0\.1:\d+/);
    // taskset became the command, and the command itself with flags: the process is the one that was begun
    const running = readFileSync(`/proc/${child.pid}/cmdline`, "utf8").split("\0").slice(0, -1);
    assert.deepEqual(running, [process.execPath, ...singleCoreFlags, ...command.slice(1)]);
    const niceness = threadsOf(child.pid!).filter(({ name }) => name === "V8Worker");
    // 0 V8 threads would prove nothing: this Node names them
    assert.ok(niceness.length > 0);
    assert.deepEqual(new Set(niceness.map(({ nice }) => nice)), new Set([19]));
  } finally {
    child.kill("SIGTERM");
  }
});

test("what cannot be seen or moved stays as it is, and nothing fails", () => {
  const tasks = join(folder, "tasks");
  // one that ended between being listed and being read, one that ended after it was read, one that is none of V8's
  mkdirSync(join(tasks, "1"), { recursive: true });
  for (const [thread, name] of [
    ["2147483646", "V8Worker"],
    [`${process.pid}`, "MainThread"],
  ] as const) {
    mkdirSync(join(tasks, thread));
    writeFileSync(join(tasks, thread, "comm"), `${name}\n`);
  }
  const before = getPriority();
  compileInBackground(tasks);
  compileInBackground(join(folder, "forbidden"));
  assert.equal(lowerPriority(19, 2147483646), false);
  assert.equal(getPriority(), before);
});

/** The nineteenth number of /proc/PID/task/TID/stat, counted from after the name in brackets, which may hold spaces. */
const threadsOf = (pid: number): readonly { readonly name: string; readonly nice: number }[] =>
  readdirSync(`/proc/${pid}/task`).map((thread) => {
    const stat = readFileSync(`/proc/${pid}/task/${thread}/stat`, "utf8");
    const end = stat.lastIndexOf(")");
    return { name: stat.slice(stat.indexOf("(") + 1, end), nice: Number(stat.slice(end + 2).split(" ")[16]) };
  });
