import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import fc from "fast-check";
import { makeFolder } from "../../src/common/files/files.ts";
import { type ErrorCode, WhetstoneError } from "../../src/core/errors.ts";
import type { Ending, Trajectory, Turn } from "../../src/core/types.ts";
import { migrated, sqliteDatabase } from "../../src/store/connect.ts";
import { openTrafficStore } from "../../src/store/openTrafficStore.ts";
import type { Evaluation, RunStart, RunStore, TrajectorySearch } from "../../src/store/runStore.ts";
import { openRunStore, runStoreOn } from "../../src/store/runStore.ts";
import { openDatabase, storeFailure } from "../../src/store/sqlite.ts";
import { keptIterations } from "../../src/store/storedIterations.ts";
import { whyKept } from "../../src/store/trajectoryRow.ts";
import { packTrajectory, unpackTrajectory } from "../../src/store/turns.ts";
import { folder, freshFile, onEach } from "./each.ts";

const run: RunStart = {
  id: "facts-grpo-1",
  name: "facts-grpo-1",
  env: "facts",
  method: "grpo",
  engine: "local",
  seed: 1,
  config: { learningRate: 1e-3, tags: ["a", null] },
  folder: join(folder, "runs", "facts-grpo-1"),
};

const done = (success: boolean): Ending => ({ kind: "done", reason: "answered", success });

function turn(k: number): Turn {
  const prompt = [{ role: "user" as const, content: "question" }];
  for (let i = 0; i < k; i++) {
    prompt.push({ role: "user", content: `action ${i}` }, { role: "user", content: `observation ${i}` });
  }
  return {
    role: "agent",
    model: "policy",
    version: "v1",
    prompt,
    action: { role: "assistant", content: `action ${k}` },
    tokens: {
      prompt: Int32Array.from({ length: 3 + 4 * k }, (_, i) => i),
      action: Int32Array.of(3 + 4 * k, 4 + 4 * k),
      logp: Float32Array.of(-0.1 * k, Number.NaN),
      behaviour: Float32Array.of(-0.1 * k, Number.NEGATIVE_INFINITY),
    },
    spans: { call: [[0, 2]] },
    stop: "eos",
    rewards: { outcome: k },
    ms: 1.5,
  };
}

const trajectory = (id: string, end: Ending = done(true), turns = 3): Trajectory => ({
  id,
  task: "task-1",
  episode: `${id}/e`,
  role: "agent",
  turns: Array.from({ length: turns }, (_, k) => turn(k)),
  end,
  origin: "sampled",
});

async function withStore(
  where: string,
  work: (store: RunStore, where: string) => Promise<void>,
): Promise<void> {
  const store = await openRunStore(where);
  try {
    await store.startRun(run);
    await work(store, where);
  } finally {
    await store.close();
  }
}

const evaluation = (when: Evaluation["when"], iteration: number): Evaluation => ({
  when,
  iteration,
  split: "test",
  mode: "sampled",
  success: { mean: 0.5, low: 0.4, high: Number.NaN, n: 200 },
  reward: 0.5,
  turns: 3,
  tasks: 200,
  failed: 1,
  seconds: 2,
  trainedShare: 0.25,
  outcomes: "10-1",
});

onEach("a run, its metrics, evaluations and trajectories come back as they were", (where) =>
  withStore(where, async (store) => {
    const metrics = { loss: 0.1 + 0.2, broken: Number.NaN, far: Number.POSITIVE_INFINITY };
    const saved = trajectory("a");
    const advantage = Float32Array.of(1, -1, 0.1, Number.NaN, -0, 3);
    await store.saveIteration(run.id, 0, {
      metrics,
      trajectories: [{ trajectory: saved, advantage, phase: "train" }],
    });
    await store.saveEvaluation(run.id, evaluation("before", 0), [
      { trajectory: trajectory("b"), phase: "before" },
    ]);
    await store.finishRun(run.id, "done", { success: 0.9 });

    const found = await store.run("facts-grpo-1");
    assert.equal(found?.state, "done");
    assert.deepEqual(found?.config, run.config);
    assert.deepEqual(found?.summary, { success: 0.9 });
    assert.deepEqual(
      Object.fromEntries((await store.metrics(run.id)).map((m) => [m.name, m.value])),
      metrics,
    );
    assert.deepEqual(await store.evaluations(run.id), [evaluation("before", 0)]);
    const back = await store.trajectory(run.id, { id: "a" });
    assert.deepEqual(back?.trajectory, saved);
    assert.deepEqual(back?.advantage, advantage);
    assert.equal(back?.reward, 3);
    assert.deepEqual((await store.trajectories(run.id)).map((t) => `${t.phase} ${t.id} ${t.kept}`).sort(), [
      "before b example",
      `train a ${whyKept({ trajectory: saved, phase: "train" })}`,
    ]);
  }),
);

test("any trajectory survives packing bit for bit", () => {
  const bits = fc.array(fc.integer(), { maxLength: 6 });
  const floats = (values: readonly number[]): Float32Array =>
    new Float32Array(Int32Array.from(values).buffer);
  const message = fc.record({
    role: fc.constantFrom("user" as const, "assistant" as const),
    content: fc.constantFrom("a", "b", "é\u0000"),
  });
  const tokens = fc
    .tuple(fc.array(fc.integer({ min: 0, max: 2 }), { maxLength: 8 }), bits, fc.boolean(), fc.boolean())
    .map(([prompt, action, extras, same]) => ({
      prompt: Int32Array.from(prompt),
      action: Int32Array.from(action),
      logp: floats(action),
      behaviour: same ? floats(action) : floats(action.map((x) => ~x)),
      ...(extras && {
        entropy: floats(action),
        forced: Uint8Array.from(action),
        allowed: action.map((x) => Int32Array.of(x, 1)),
      }),
    }));
  const anyTurn = fc.record(
    {
      role: fc.constant("agent"),
      model: fc.constant("policy"),
      version: fc.string(),
      prompt: fc.array(message, { maxLength: 4 }),
      action: message,
      tokens,
      spans: fc.constant({}),
      stop: fc.constant("eos" as const),
      rewards: fc.dictionary(fc.constantFrom("x", "y"), fc.double()),
      ms: fc.double(),
    },
    { requiredKeys: ["role", "model", "version", "prompt", "action", "spans", "stop", "rewards", "ms"] },
  );
  const bytes = (t: Trajectory) =>
    t.turns.map((u) =>
      [u.tokens?.logp, u.tokens?.behaviour, u.tokens?.entropy].map((f) => f && Buffer.from(f.buffer)),
    );
  fc.assert(
    fc.property(fc.array(anyTurn, { maxLength: 4 }), (turns) => {
      const t: Trajectory = { ...trajectory("x"), turns };
      const back = unpackTrajectory(packTrajectory(t));
      const plain = (x: Trajectory) => JSON.parse(JSON.stringify(x)) as unknown;
      assert.deepEqual(plain(back), plain(t));
      assert.deepEqual(bytes(back), bytes(t));
      for (const [k, u] of turns.entries()) assert.deepEqual({ ...back.turns[k]!.rewards }, { ...u.rewards });
    }),
    { seed: 1, numRuns: 200 },
  );
});

test("a prompt that grows is stored once", () => {
  const size = (turns: number): number => {
    const packed = packTrajectory(trajectory("x", done(true), turns));
    return packed.data.length + packed.tokens!.length;
  };
  assert.ok(size(40) < 11 * size(4), `${size(4)} bytes for 4 turns, ${size(40)} for 40`);
});

onEach("retention: all metrics, the last iterations, failures, and one in a hundred of the rest", (where) =>
  withStore(where, async (store) => {
    const iterations = keptIterations + 10;
    const perIteration = 40;
    let sampled = 0;
    for (let i = 0; i < iterations; i++) {
      const trajectories = Array.from({ length: perIteration }, (_, k) => ({
        trajectory: trajectory(`${i}/task/${k}`, k === 0 ? done(false) : done(true), 1),
        phase: "train",
      }));
      if (i < 10) sampled += trajectories.filter((t) => whyKept(t) === "sampled").length;
      await store.saveIteration(run.id, i, { metrics: { loss: i }, trajectories });
    }
    assert.equal((await store.metrics(run.id)).length, iterations);
    const kept = await store.trajectories(run.id);
    const old = kept.filter((t) => t.iteration < 10);
    assert.equal(kept.length - old.length, keptIterations * perIteration);
    assert.equal(old.filter((t) => t.kept === "failed").length, 10);
    assert.equal(old.length, 10 + sampled);
    assert.equal((await store.trajectories(run.id, { failed: true })).length, iterations);
  }),
);

test("the sample of the rest is about one in a hundred, the same each time", () => {
  const ids = Array.from({ length: 20000 }, (_, i) => `run/12/capital-${i}/${i % 8}`);
  const share = ids.filter(
    (id) => whyKept({ trajectory: trajectory(id, done(true), 0), phase: "train" }) === "sampled",
  );
  assert.ok(share.length > 140 && share.length < 260, `${share.length} of 20000`);
});

onEach("rewind forgets what a resumed run will do again, and nothing else", (where) =>
  withStore(where, async (store) => {
    await store.saveEvaluation(run.id, evaluation("before", 0), [
      { trajectory: trajectory("b"), phase: "before" },
    ]);
    for (let i = 0; i < 4; i++) {
      await store.saveIteration(run.id, i, {
        metrics: { loss: i },
        trajectories: [{ trajectory: trajectory(`t${i}`), phase: "train" }],
      });
      await store.saveEvaluation(run.id, evaluation("during", i + 1));
    }
    await store.saveEvaluation(run.id, evaluation("after", 4));
    await store.rewind(run.id, 2);
    assert.deepEqual(
      (await store.metrics(run.id)).map((m) => m.iteration),
      [0, 1],
    );
    assert.deepEqual(
      (await store.trajectories(run.id)).map((t) => t.id),
      ["b", "t0", "t1"],
    );
    assert.deepEqual(
      (await store.evaluations(run.id)).map((e) => `${e.when} ${e.iteration}`),
      ["before 0", "during 1", "during 2"],
    );
    await store.saveIteration(run.id, 2, { metrics: { loss: 20 }, trajectories: [] });
    await store.saveIteration(run.id, 2, { metrics: { loss: 21 }, trajectories: [] });
    assert.equal((await store.metrics(run.id)).at(-1)?.value, 21);
    await store.rewind(run.id, 0);
    assert.equal((await store.metrics(run.id)).length, 0);
    assert.deepEqual(
      (await store.trajectories(run.id)).map((t) => t.id),
      ["b"],
    );
  }),
);

onEach(
  "a run is found by id, by the beginning of one, by folder; not by a beginning that two share",
  (where) =>
    withStore(where, async (store) => {
      await store.startRun({
        ...run,
        id: "facts-rloo-1",
        name: "facts-rloo-1",
        folder: join(folder, "elsewhere"),
      });
      assert.equal((await store.run("facts-g"))?.id, run.id);
      assert.equal((await store.run(run.folder))?.id, run.id);
      assert.equal((await store.run("elsewhere"))?.id, "facts-rloo-1");
      assert.equal(await store.run("facts"), undefined);
      assert.equal(await store.run(""), undefined);
      assert.equal((await store.runs()).length, 2);
    }),
);

onEach("two readers and a writer at once", (where) =>
  withStore(where, async (writer, file) => {
    const readers = await Promise.all([openRunStore(file), openRunStore(file)]);
    const write = async () => {
      for (let i = 0; i < 20; i++) {
        await writer.saveIteration(run.id, i, { metrics: { a: i, b: i, c: i }, trajectories: [] });
      }
    };
    const read = async (store: RunStore) => {
      for (let i = 0; i < 30; i++) {
        const count = (await store.metrics(run.id)).length;
        assert.equal(count % 3, 0, "a reader never sees half an iteration");
        await new Promise(setImmediate);
      }
    };
    await Promise.all([write(), ...readers.map(read)]);
    for (const reader of readers) {
      assert.equal((await reader.metrics(run.id)).length, 60);
      await reader.close();
    }
  }),
);

const failsWith =
  (pattern: RegExp, code: ErrorCode = "store.failed") =>
  (e: unknown) => {
    assert.ok(e instanceof WhetstoneError);
    assert.equal(e.code, code);
    assert.match(e.message, pattern);
    assert.doesNotMatch(e.message, /\n/);
    return true;
  };

test("a full disk while a store is made: one clear error, and it is made once there is room", async () => {
  const file = freshFile();
  await makeFolder(dirname(file));
  const made = async (pages: number): Promise<boolean> => {
    const database = openDatabase(file);
    database.exec(`PRAGMA max_page_count = ${pages}`);
    const opened = sqliteDatabase(database, file);
    try {
      await migrated(opened);
    } catch (e) {
      assert.ok(failsWith(/got a full disk/, "store.full")(e));
      return false;
    }
    await opened.close();
    return true;
  };
  let pages = 1;
  while (!(await made(pages))) pages += 7;
  assert.ok(pages > 20, "it failed in the midst of its tables as well");
  const store = await openRunStore(file);
  await store.startRun(run);
  assert.equal((await store.runs()).length, 1);
  await store.close();
});

test("a full disk: one clear error, and what was saved stays", async () => {
  const file = freshFile();
  await makeFolder(dirname(file));
  const database = openDatabase(file);
  const opened = sqliteDatabase(database, file);
  await migrated(opened);
  const store = runStoreOn(opened);
  await store.startRun(run);
  await store.saveIteration(run.id, 0, { metrics: { loss: 1 }, trajectories: [] });
  const { page_count: pages } = database.prepare("PRAGMA page_count").get() as { page_count: number };
  database.exec(`PRAGMA max_page_count = ${pages}`);
  const trajectories = Array.from({ length: 300 }, (_, k) => ({
    trajectory: trajectory(`t${k}`),
    phase: "train",
  }));
  await assert.rejects(
    store.saveIteration(run.id, 1, { metrics: { loss: 2 }, trajectories }),
    failsWith(/got a full disk, expected room to write\. Free some space/, "store.full"),
  );
  await store.close();
  const again = await openRunStore(file);
  assert.deepEqual(
    (await again.metrics(run.id)).map((m) => m.iteration),
    [0],
  );
  await again.close();
});

test("a database of something else is refused before as much as a byte is written to it", async () => {
  for (const journal of ["delete", "wal"]) {
    const file = freshFile();
    await makeFolder(dirname(file));
    const foreign = new DatabaseSync(file);
    foreign.exec(`pragma journal_mode = ${journal}; create table users (id); create table posts (id)`);
    // as another program leaves it that uses the same library for its tables
    foreign.exec(
      "create table kysely_migration (name text); insert into kysely_migration values ('0001_theirs')",
    );
    const looked = (): unknown => [
      readFileSync(file).toString("base64"),
      readdirSync(dirname(file)).filter((name) => name.startsWith(basename(file))),
    ];
    for (const state of ["open", "closed"]) {
      if (state === "closed") foreign.close();
      const before = looked();
      for (const thread of ["this thread", "own thread"] as const) {
        await assert.rejects(
          openRunStore(file, thread),
          failsWith(/another program's SQLite database, with the tables users, posts/),
        );
        assert.deepEqual(looked(), before, `${journal}, ${state}, ${thread}`);
      }
    }
  }
});

test("a store is its owner's alone, from its first byte on", {
  skip: process.platform === "win32",
}, async () => {
  const before = process.umask(0o022);
  try {
    const file = freshFile();
    const store = await openRunStore(file);
    await store.startRun(run);
    for (const part of ["", "-wal", "-shm"]) {
      assert.equal((statSync(`${file}${part}`).mode & 0o777).toString(8), "600", part);
    }
    await store.close();
  } finally {
    process.umask(before);
  }
});

test("a file that is no store, a damaged one, an unwritable folder, a locked store: one clear line each", async () => {
  const other = join(folder, "other.sqlite");
  writeFileSync(other, "this is not a database, and long enough to be read as one. ".repeat(20));
  await assert.rejects(openRunStore(other), failsWith(/not a SQLite database/));
  await assert.rejects(openRunStore(join(other, "below", "x.sqlite")), failsWith(/cannot be opened/));
  await assert.rejects(openRunStore(folder), failsWith(/got a folder, expected an existing or new file/));
  await assert.rejects(openTrafficStore(folder), failsWith(/got a folder, expected an existing or new file/));
  assert.match(storeFailure("x", { errcode: 11 }).message, /damaged/);
  assert.match(storeFailure("x", { errcode: 5 | (1 << 8) }).message, /locked by another process/);
  assert.match(storeFailure("x", new Error("odd")).message, /"odd"/);
});

test("a store in memory leaves no file, and one in a file is the very file", async () => {
  const source = `
    import { openTrafficStore } from ${JSON.stringify(new URL("../../src/store/openTrafficStore.ts", import.meta.url).href)};
    for (const where of [":memory:", "file:odd.sqlite"]) await (await openTrafficStore(where)).close();`;
  const cwd = join(folder, "elsewhere");
  mkdirSync(cwd);
  const child = spawn(process.execPath, ["--input-type=module", "-e", source], { cwd, stdio: "inherit" });
  await once(child, "close");
  assert.deepEqual(readdirSync(cwd), ["file:odd.sqlite"]);
});

test("kill -9 while it writes leaves a valid store of whole iterations", async () => {
  const file = freshFile();
  const source = `
    import { openRunStore } from ${JSON.stringify(new URL("../../src/store/runStore.ts", import.meta.url).href)};
    const store = await openRunStore(${JSON.stringify(file)});
    await store.startRun(${JSON.stringify(run)});
    const trajectory = ${JSON.stringify({ ...trajectory("t", done(true), 0) })};
    for (let i = 0; ; i++) {
      const trajectories = Array.from({ length: 20 }, (_, k) => ({ trajectory: { ...trajectory, id: i + "/" + k }, phase: "train" }));
      await store.saveIteration("${run.id}", i, { metrics: { a: i, b: i }, trajectories });
      console.log(i);
    }`;
  for (const wait of [0, 7, 23]) {
    const child = spawn(process.execPath, ["--input-type=module", "-e", source], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let told = "";
    child.stdout.on("data", (chunk) => (told += chunk));
    await once(child.stdout, "data");
    await new Promise((next) => setTimeout(next, wait));
    child.kill("SIGKILL");
    await once(child, "close");
    const lastTold = Number(
      told
        .trim()
        .split("\n")
        .findLast((line) => line !== ""),
    );

    const database = openDatabase(file);
    assert.deepEqual({ ...database.prepare("PRAGMA integrity_check").get() }, { integrity_check: "ok" });
    const store = runStoreOn(sqliteDatabase(database, file));
    const last = (await store.metrics(run.id)).at(-1)!.iteration;
    assert.ok(last >= lastTold, `iteration ${lastTold} was acknowledged, the store ends with ${last}`);
    assert.equal((await store.metrics(run.id)).filter((m) => m.iteration === last).length, 2);
    assert.equal((await store.trajectories(run.id, { iteration: last })).length, 20);
    await store.close();
  }
});

onEach("extremes are those of each block of iterations; what is no number counts for none", (where) =>
  withStore(where, async (store) => {
    // blocks of 3 from 0 on: 0 1 2 | 3 4 5 | 6
    const loss = [5, -1, 2, Number.NaN, Number.NaN, Number.NaN, 7];
    for (const [k, value] of loss.entries()) {
      const metrics = { loss: value, ...(k > 4 && { late: k }) };
      await store.saveIteration(run.id, k, { metrics, trajectories: [] });
    }
    const extremes = async (from: number, until: number) =>
      (await store.extremes(run.id, 3, { from, until })).map((e) => ({ ...e }));
    assert.deepEqual(await extremes(0, 7), [
      { block: 0, name: "loss", low: -1, high: 5 },
      { block: 1, name: "late", low: 5, high: 5 },
      { block: 2, name: "late", low: 6, high: 6 },
      { block: 2, name: "loss", low: 7, high: 7 },
    ]);
    assert.deepEqual(await extremes(1, 2), [{ block: 0, name: "loss", low: -1, high: -1 }]);
    assert.deepEqual(await store.extremes("nobody", 3, { from: 0, until: 7 }), []);
  }),
);

onEach("curves cost the same however long the run is, and end with the last iteration", (where) =>
  withStore(where, async (store) => {
    for (let k = 0; k < 10; k++) {
      await store.saveIteration(run.id, k, {
        metrics: { success: k / 10, ...(k % 2 === 0 && { loss: Number.NaN }) },
        trajectories: [],
      });
    }
    assert.deepEqual(await store.measured(run.id), { names: ["success"], iterations: 10 });
    // 4 of 0 … 9 are 0, 3, 6, 9
    const curve = await store.curves(run.id, ["success", "loss"], 4);
    assert.deepEqual(
      curve.map(({ iteration, name, value }) => [iteration, name, value]),
      [
        [0, "loss", Number.NaN],
        [0, "success", 0],
        [3, "success", 0.3],
        [6, "loss", Number.NaN],
        [6, "success", 0.6],
        [9, "success", 0.9],
      ],
    );
    const part = await store.curves(run.id, ["success"], 100, { from: 4, until: 7 });
    assert.deepEqual(
      part.map((m) => m.iteration),
      [4, 5, 6],
    );
    assert.deepEqual(await store.curves("nobody", ["success"], 4), []);
    assert.deepEqual(await store.measured("nobody"), { names: [], iterations: 0 });
  }),
);

onEach("trajectories are found by how they ended, reward, iteration and what was said", (where) =>
  withStore(where, async (store) => {
    const cut: Ending = { kind: "truncated", limit: "turns", at: 3 };
    const unjudged: Ending = { kind: "done", reason: "left" };
    const said = (id: string, end: Ending, text: string): Trajectory => {
      const t = trajectory(id, end, 1);
      return { ...t, turns: [{ ...t.turns[0]!, action: { role: "assistant", content: text } }] };
    };
    const kept = [
      said("a", done(true), "the capital is Lima"),
      said("b", done(false), '100% sure_of "it"'),
      said("c", cut, "Äpfel\nand so on"),
      said("d", unjudged, "nothing"),
    ];
    for (const [k, t] of kept.entries()) {
      const saved = { trajectory: t, phase: "train", reward: k };
      await store.saveIteration(run.id, k, { metrics: {}, trajectories: [saved] });
    }
    const find = async (search: Partial<TrajectorySearch>): Promise<string[]> => {
      const page = await store.searchTrajectories(run.id, {
        order: "newest",
        offset: 0,
        limit: 10,
        ...search,
      });
      return page.found.map(({ id }) => id);
    };
    assert.deepEqual(await find({}), ["d", "c", "b", "a"]);
    assert.deepEqual(await find({ order: "worst" }), ["a", "b", "c", "d"]);
    assert.deepEqual(await find({ outcome: "success" }), ["a"]);
    assert.deepEqual(await find({ outcome: "no success" }), ["b"]);
    assert.deepEqual(await find({ outcome: "truncated" }), ["c"]);
    assert.deepEqual(await find({ outcome: "done" }), ["d"]);
    assert.deepEqual(await find({ from: 1, until: 3 }), ["c", "b"]);
    assert.deepEqual(await find({ least: 1, most: 1 }), ["b"]);
    assert.deepEqual(await find({ task: "task-1", most: 0 }), ["a"]);
    assert.deepEqual(await find({ task: "another" }), []);
    assert.deepEqual(await find({ text: "LIMA" }), ["a"]);
    // what means something in a pattern, and what JSON escapes, stand for themselves
    assert.deepEqual(await find({ text: "100%" }), ["b"]);
    assert.deepEqual(await find({ text: "sure_of" }), ["b"]);
    assert.deepEqual(await find({ text: "s__e_of" }), []);
    assert.deepEqual(await find({ text: '"it"' }), ["b"]);
    assert.deepEqual(await find({ text: "\nand" }), ["c"]);
    const second = { order: "newest", offset: 1, limit: 2 } as const;
    const page = await store.searchTrajectories(run.id, second);
    assert.deepEqual([page.found.map(({ id }) => id), page.total], [["c", "b"], 4]);
    const groups = await store.searchGroups(run.id, {
      order: "worst",
      offset: 0,
      limit: 3,
      outcome: "success",
    });
    assert.deepEqual(
      [
        groups.found.map((group) => group.map(({ id, words }) => [id, words.actions[0]?.content])),
        groups.total,
      ],
      [[[["a", "the capital is Lima"]]], 1],
    );
  }),
);

onEach("tags are kept, replaced and given by run", (where) =>
  withStore(where, async (store) => {
    await store.setTags(run.id, ["paper", "archived", "paper"]);
    assert.deepEqual(await store.tags(), new Map([[run.id, ["archived", "paper"]]]));
    await store.setTags(run.id, []);
    assert.deepEqual(await store.tags(), new Map());
    const sets = Array.from({ length: 8 }, (_, i) => ["all", `${i}`]);
    await Promise.all(sets.map((tags) => store.setTags(run.id, tags)));
    const [left = []] = (await store.tags()).values();
    assert.equal(left.length, 2, "those of one of them, whole");
  }),
);
