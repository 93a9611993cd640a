/** A full disk ends the run with one clear line; what was saved before is intact, and the run goes on from it. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { SQLInputValue } from "node:sqlite";
import { before, test } from "node:test";
import { replaceFile } from "../../src/common/files/files.ts";
import { messageOf } from "../../src/core/errors.ts";
import { tabularEngine } from "../../src/engine/tabular/engine.ts";
import { findCheckpoint, saveModel } from "../../src/train/checkpoint.ts";
import type { RunOptions } from "../../src/train/run.ts";
import { intercept, noSpace } from "./faults.ts";
import { folder, runIn, settings, type Trace, tiny, traceOf, withCode } from "./world.ts";

const engine = tabularEngine();
const options: RunOptions = {
  ...settings("tabular", engine),
  iterations: 2,
  evaluation: { tasks: 1, every: 1, validationTasks: 2 },
  warmStart: { updates: 1, every: 1, batch: 6, learningRate: 0.1 },
};
let expected: Trace;
let writes: readonly string[];

/** Runs `work` while the n-th write for which `counts` holds fails. @returns the calls counted. */
async function failingAt(
  n: number,
  counts: (path: string) => boolean,
  work: () => Promise<unknown>,
): Promise<string[]> {
  const seen: string[] = [];
  const restore = intercept((call, path) => {
    if (!counts(path)) return;
    seen.push(`${call} ${path}`);
    if (seen.length === n) throw noSpace(call);
  });
  try {
    await work();
  } finally {
    restore();
  }
  return seen;
}

const inCheckpoints = (path: string): boolean => /checkpoints|best|final/.test(path);

before(async () => {
  const root = folder();
  writes = await failingAt(0, inCheckpoints, () => runIn(root, options));
  expected = await traceOf(root);
});

test("every write of every checkpoint: the one before it is whole, and leads to the same end", async () => {
  assert.ok(writes.length > 40, `only ${writes.length} writes`);
  const root = folder();
  for (let n = 1; n <= writes.length; n++) {
    const said = `write ${n}, ${writes[n - 1]}`;
    const run = join(root, String(n));
    mkdirSync(run);
    await assert.rejects(
      failingAt(n, inCheckpoints, () => runIn(run, options)),
      withCode("disk.write", /no space left.*Free some space/),
      said,
    );
    const found = await findCheckpoint(join(run, "run"));
    if (found) await engine.open("policy", join(found.folder, "models", "policy"));
    else assert.ok(n < 20, `${said}: no checkpoint`);
    if (n % 5 !== 0) continue; // all of them would take long
    await runIn(run, { ...options, resume: true });
    assert.deepEqual(await traceOf(run), expected, said);
    const left = readdirSync(join(run, "run"), { recursive: true }).map(String);
    assert.deepEqual(
      left.filter((name) => /\.(partial|old)$/.test(name)),
      [],
      said,
    );
  }
});

test("the journal: half a line is cut off, and its episode played again", async () => {
  const inJournal = (path: string): boolean => path.endsWith("journal.jsonl");
  // one at a time: episodes that end together are written together
  const single = { ...options, concurrency: 1 };
  for (const n of [1, 2, 7, 12, 20]) {
    const root = folder();
    await assert.rejects(
      failingAt(n, inJournal, () => runIn(root, single)),
      withCode("disk.write", /journal\.jsonl/),
      `write ${n}`,
    );
    await runIn(root, { ...single, resume: true });
    assert.deepEqual(await traceOf(root), expected, `write ${n}`);
  }
});

test("the store: one line, nothing half written, the same end", async () => {
  const { DatabaseSync } = createRequire(import.meta.url)("node:sqlite") as typeof import("node:sqlite");
  const { prepare } = DatabaseSync.prototype;
  for (const n of [1, 5, 17]) {
    let inserts = 0;
    DatabaseSync.prototype.prepare = function (sql) {
      const statement = prepare.call(this, sql);
      const { run } = statement;
      if (/^insert into "trajectories"/.test(sql)) {
        // a statement may be kept and run again
        statement.run = ((...values: SQLInputValue[]) => {
          if (++inserts === n) throw Object.assign(new Error("database or disk is full"), { errcode: 13 });
          return Reflect.apply(run, statement, values);
        }) as typeof run;
      }
      return statement;
    };
    const root = folder();
    try {
      await assert.rejects(runIn(root, options), withCode("store.full", /full disk.*resume/));
    } finally {
      DatabaseSync.prototype.prepare = prepare;
    }
    await runIn(root, { ...options, resume: true });
    assert.deepEqual(await traceOf(root), expected, `insert ${n}`);
  }
});

test("a local model: every write of a save, over one that is there", async () => {
  const local = tiny();
  const model = await local.create({ id: "policy", seed: 1, vocabulary: ["a b c"], contextTokens: 8 });
  const best = join(folder(), "best");
  await saveModel(best, model);
  const contents = (): string[] => readdirSync(best).map((name) => readFileSync(join(best, name), "latin1"));
  const whole = contents();
  const all = (): boolean => true;
  const calls = await failingAt(0, all, () => saveModel(best, model));
  assert.ok(calls.length > 20);
  for (let n = 1; n <= calls.length; n++) {
    await assert.rejects(
      failingAt(n, all, () => saveModel(best, model)),
      withCode("disk.write"),
      calls[n - 1]!,
    );
    assert.deepEqual(contents(), whole, calls[n - 1]!);
  }
  await local.dispose();
});

test("replaceFile leaves the old file, or none, and nothing beside it", async () => {
  const root = folder();
  const file = join(root, "file");
  for (const old of [undefined, "old"]) {
    for (let n = 1; ; n++) {
      if (old === undefined) rmSync(file, { force: true });
      else writeFileSync(file, old);
      const failed = await failingAt(
        n,
        () => true,
        () => replaceFile(file, "new"),
      ).then(
        () => false,
        () => true,
      );
      if (!failed) break;
      const now = existsSync(file) ? readFileSync(file, "utf8") : undefined;
      assert.ok(now === old || now === "new", `call ${n}: ${now}`); // a flush may fail after the change of names
      assert.deepEqual(
        readdirSync(root).filter((name) => name !== "file"),
        [],
      );
    }
  }
});

/** Mounts a file system of this many kilobytes. @returns why it cannot, if it cannot. */
function mounted(at: string, kilobytes: number, more = ""): string | undefined {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return "only root on Linux can mount";
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${kilobytes}k${more}`, "none", at], { stdio: "pipe" });
    return undefined;
  } catch (e) {
    return `cannot mount here: ${messageOf(e).split("\n")[0]}`;
  }
}

test("a disk that is really full, and has room again", async (t) => {
  const root = folder();
  const small = join(root, "small");
  mkdirSync(small);
  const missing = mounted(small, 160);
  if (missing !== undefined) return t.skip(missing);
  try {
    // without checkpoints on the way the journal grows until nothing fits
    const long = {
      ...options,
      store: join(root, "whetstone.sqlite"),
      iterations: 12,
      checkpointSeconds: 1000,
    };
    await assert.rejects(runIn(small, long), withCode("disk.write", /ENOSPC/));
    assert.ok(await findCheckpoint(join(small, "run")));
    assert.equal(mounted(small, 4096, ",remount"), undefined);
    await runIn(small, { ...long, resume: true });
    const calm = folder();
    await runIn(calm, long);
    const weights = (at: string): Buffer => readFileSync(join(at, "run", "final", "tabular.json"));
    assert.ok(weights(small).equals(weights(calm)));
  } finally {
    execFileSync("umount", ["-l", small]);
  }
});
