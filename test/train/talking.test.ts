/** kill -9 and empty purses in the middle of a run that pays for replies: none is paid for twice, and the end is the same. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { codebreaker, scriptedProvider } from "./scriptedProvider.ts";
import type { TalkingChild } from "./talkingChild.ts";
import { folder } from "./world.ts";

const script = fileURLToPath(new URL("./talkingChild.ts", import.meta.url));

interface Ended {
  readonly signal: string | null;
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

function child(options: TalkingChild, started: (kill: () => void) => void = () => {}): Promise<Ended> {
  return new Promise((resolve) => {
    const running = spawn(process.execPath, [script, JSON.stringify(options)]);
    let [out, err] = ["", ""];
    running.stdout.on("data", (chunk: Buffer) => (out += chunk.toString()));
    running.stderr.on("data", (chunk: Buffer) => (err += chunk.toString()));
    running.on("close", (code, signal) => resolve({ code, signal, out, err }));
    started(() => running.kill("SIGKILL"));
  });
}

const toldIn = (root: string): string => {
  const file = join(root, "run", "artefact", "system.md");
  return existsSync(file) ? readFileSync(file, "utf8") : "";
};

test("killed and out of money again and again, a run pays for each reply once and ends as an undisturbed one", async () => {
  const calm = await scriptedProvider(codebreaker);
  const calmRoot = folder();
  const expected = await child({ root: calmRoot, url: calm.url, resume: false });
  assert.equal(expected.code, 0, expected.err);
  assert.match(toldIn(calmRoot), /not w\d at \d/);
  assert.equal(new Set(calm.paid).size, calm.paid.length, "nothing is asked twice");

  const rough = await scriptedProvider(codebreaker);
  const root = folder();
  const killed = await child({ root, url: rough.url, resume: false }, (kill) =>
    rough.whenPaid((count) => {
      if (count === 19) kill();
    }),
  );
  assert.equal(killed.signal, "SIGKILL");
  const before = rough.paid.length;
  const poor = await child({ root, url: rough.url, resume: true, calls: 8 });
  assert.equal(poor.code, 1);
  assert.match(poor.err, /budget\.spent/);
  assert.ok(rough.paid.length - before <= 8, "the limit holds");
  const done = await child({ root, url: rough.url, resume: true });
  assert.equal(done.code, 0, done.err);
  assert.equal(done.out, expected.out);
  assert.equal(toldIn(root), toldIn(calmRoot));
  assert.notEqual(toldIn(root), "");
  assert.deepEqual(new Set(rough.paid), new Set(calm.paid), "the same questions");
  // two requests at a time: the kill may cut replies that were on their way, and nothing else
  assert.ok(rough.paid.length - new Set(rough.paid).size <= 2, `${rough.paid.length} requests`);
});
