/** An environment that fails costs its episodes, and a folder that cannot be used costs one clear line. */
import assert from "node:assert/strict";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { Task } from "../../src/core/types.ts";
import type { Environment } from "../../src/env/environment.ts";
import { openRunStore } from "../../src/store/runStore.ts";
import type { RunEvent } from "../../src/train/events.ts";
import {
  delayed,
  echo,
  engines,
  folder,
  type Ran,
  runIn,
  settings,
  tiny,
  traceOf,
  watched,
  withCode,
} from "./world.ts";

/** Fails, or hangs, at the start of some of its training episodes, once training has begun. */
function unreliable(fails: (task: Task, seed: number) => boolean, hangs = false): Environment {
  let trained = false;
  const environment = watched(echo(), (task, seed) => {
    if (task.id.includes("/test/")) trained = true;
    if (!trained || !fails(task, seed)) return undefined;
    if (hangs) return new Promise(() => {});
    throw new Error("the server is away");
  });
  return { ...environment, limits: { ...environment.limits, seconds: 0.05 } };
}

const metric = ({ events }: Ran, name: string): readonly (number | undefined)[] =>
  events.flatMap((e) => (e.type === "iteration" ? [e.metrics[name]] : []));
const iterations = (events: readonly RunEvent[]): number =>
  events.filter((e) => e.type === "iteration").length;

test("an environment that throws in a tenth of its episodes", async () => {
  const engine = engines.local();
  const root = folder();
  const environment = unreliable((_, seed) => seed % 10 === 0);
  const ran = await runIn(root, { ...settings("local", engine), environment, iterations: 6 });
  await engine.dispose();
  const failed = metric(ran, "failed").reduce((a: number, b) => a + (b ?? 0), 0);
  assert.ok(failed >= 1 && failed <= 24, `${failed} of 72`);
  assert.equal(metric(ran, "total.episodes.failed").at(-1), failed);
  assert.equal(metric(ran, "total.episodes").at(-1), 72);
  const trajectories = (await traceOf(root)).trajectories as readonly { phase: string; end: object }[];
  const ends = trajectories.filter((t) => t.phase === "train" && "boundary" in t.end);
  assert.equal(ends.length, failed);
  assert.deepEqual(ends[0]!.end, {
    kind: "failed",
    boundary: "environment",
    message: "start() threw: the server is away",
  });
});

test("a run that could not begin leaves its folder to the one that can", async () => {
  const root = folder();
  const plan = settings("tabular");
  const absent = { ...plan.engine, create: () => Promise.reject(new Error("no such model")) };
  await assert.rejects(runIn(root, { ...plan, engine: absent }), /no such model/);
  assert.equal(existsSync(join(root, "run")), false);
  const store = await openRunStore(join(root, "whetstone.sqlite"));
  assert.deepEqual(await store.runs(), []);
  await store.close();
  assert.equal(iterations((await runIn(root, plan)).events), 4);
  // one that is there is never taken
  await assert.rejects(runIn(root, plan), withCode("run.exists", /--resume/));
  assert.equal(existsSync(join(root, "run", "run.json")), true);
});

test("an environment that hangs", async () => {
  const environment = unreliable((task, seed) => task.id.includes("/train/") && seed % 10 === 0, true);
  const ran = await runIn(folder(), { ...settings("tabular"), environment, iterations: 5 });
  assert.equal(iterations(ran.events), 5);
  assert.ok((metric(ran, "total.episodes.failed").at(-1) ?? 0) > 0);
});

test("all episodes of a task fail, and all of an iteration", async () => {
  const one = unreliable((task) => Number(task.id.split("/")[2]) % 2 === 0);
  const some = await runIn(folder(), { ...settings("tabular"), environment: one });
  assert.equal(iterations(some.events), 4);
  assert.ok(metric(some, "reward").some((x) => x !== undefined));

  // a run that has played before waits for three iterations
  let begun = 0;
  const outage = unreliable((task) => task.id.split("/")[1] === "train" && ++begun > 12 && begun <= 36);
  const back = await runIn(folder(), { ...settings("tabular"), environment: outage });
  assert.deepEqual(metric(back, "failed"), [0, 12, 12, 0]);
  // what was not measured is absent, not 0
  assert.deepEqual(metric(back, "success").slice(1, 3), [undefined, undefined]);
  const warnings = back.events.flatMap((e) => (e.type === "warning" && !e.check ? [e.message] : []));
  assert.equal(warnings.length, 2);
  assert.match(warnings[0]!, /^iteration 2: 12 of 12 episodes failed and were left out; the first: /);
});

test("a method or an engine by its name, as JavaScript may say it: one line that says what to hand over", async () => {
  const right = settings("tabular");
  for (const [key, value, words] of [
    ["method", "grpo", /^train\(\): method: got "grpo", expected a built method\. .*grpo\.build\(\)/],
    ["engine", "local", /^train\(\): engine: got "local", expected an engine\./],
    ["environment", "facts", /^train\(\): environment: got "facts", expected an environment\./],
  ] as const) {
    const options = { ...right };
    Reflect.set(options, key, value);
    await assert.rejects(runIn(folder(), options), withCode("config.invalid", words));
  }
});

test("a run in which nothing can be played stops at once and says why", async () => {
  const training = unreliable((task) => task.id.split("/")[1] === "train");
  const first = withCode(
    "environment.broken",
    /: all 12 episodes of iteration 1 failed, the first with: start\(\) threw: the server is away\. /,
  );
  await assert.rejects(runIn(folder(), { ...settings("tabular"), environment: training }), first);

  let begun = 0;
  const gone = unreliable((task) => task.id.split("/")[1] === "train" && ++begun > 12);
  const fourth = withCode("environment.broken", /all 12 episodes of iteration 4 failed/);
  await assert.rejects(runIn(folder(), { ...settings("tabular"), environment: gone }), fourth);

  const root = folder();
  const broken = { ...settings("tabular"), environment: unreliable(() => true) };
  const evaluation = withCode(
    "environment.broken",
    /all 3 episodes of the first evaluation on "test" failed/,
  );
  await assert.rejects(runIn(root, broken), evaluation);
  assert.ok(!existsSync(join(root, "run", "best")));
  await assert.rejects(runIn(root, { ...broken, resume: true }), evaluation);
});

test("a model that fails ends the run, and no episode outlives it in the folder", async () => {
  const root = folder();
  const engine = tiny();
  const broken = {
    ...engine,
    create: async (...args: Parameters<typeof engine.create>) => {
      const model = await engine.create(...args);
      let calls = 0;
      const { sample } = model;
      return Object.assign(Object.create(model), {
        codec: model.codec,
        sample: (r: Parameters<typeof sample>[0]) =>
          ++calls === 20 ? Promise.reject(new Error("no memory")) : sample(r),
      });
    },
  };
  const options = { ...settings("local", broken), environment: delayed(echo()), warmStart: false };
  await assert.rejects(runIn(root, options), /no memory/);
  const size = (): number => statSync(join(root, "run", "journal.jsonl")).size;
  const then = size();
  await new Promise((go) => setTimeout(go, 50));
  assert.equal(size(), then);
  await engine.dispose();
});

test("folders: in the way, there already, of another run, of none", async () => {
  const root = folder();
  writeFileSync(join(root, "run"), "a file");
  await assert.rejects(runIn(root, settings("tabular")), withCode("folder.unwritable", /another folder/));

  const other = folder();
  await assert.rejects(
    runIn(other, { ...settings("tabular"), resume: true }),
    withCode("checkpoint.missing", /Leave --resume out/),
  );
  assert.deepEqual(readdirSync(other), [], "a resume of nothing leaves nothing");

  await runIn(other, settings("tabular"));
  await assert.rejects(runIn(other, settings("tabular")), withCode("run.exists"));
  for (const change of [{ seed: 2 }, { iterations: 5 }, { contextTokens: 64 }, { parts: "other" }]) {
    await assert.rejects(
      runIn(other, { ...settings("tabular"), resume: true, ...change }),
      withCode("run.different", /the options with which the run was started/),
    );
  }
  for (const change of [{ concurrency: 1 }, { checkpointSeconds: 5 }]) {
    await runIn(other, { ...settings("tabular"), resume: true, ...change });
  }
});

const root = process.getuid?.() === 0;
test("a read-only folder", { skip: root && "root may write everywhere" }, async () => {
  const parent = folder();
  mkdirSync(join(parent, "locked"));
  chmodSync(join(parent, "locked"), 0o500);
  await assert.rejects(runIn(join(parent, "locked"), settings("tabular")), withCode("folder.unwritable"));
  chmodSync(join(parent, "locked"), 0o700);
});

test("a folder that is begun again from scratch forgets what the store had of it", async () => {
  const at = folder();
  await runIn(at, { ...settings("tabular"), iterations: 6 });
  rmSync(join(at, "run"), { recursive: true });
  await runIn(at, settings("tabular"));
  const calm = folder();
  await runIn(calm, settings("tabular"));
  assert.deepEqual(await traceOf(at), await traceOf(calm));
});

for (const name of ["local", "tabular"] as const) {
  test(`${name}: a checkpoint with any file cut in half is one clear line, the one before it intact`, async () => {
    const at = folder();
    const engine = engines[name]();
    const options = settings(name, engine);
    await runIn(at, options);
    const expected = await traceOf(at);
    const checkpoints = join(at, "run", "checkpoints");
    const last = readdirSync(checkpoints).sort().at(-1)!;
    const before = readdirSync(checkpoints).sort()[0]!;
    const files = readdirSync(join(checkpoints, last), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name));
    assert.ok(files.length >= (name === "local" ? 7 : 2));
    for (const file of files) {
      const whole = readFileSync(file);
      truncateSync(file, Math.floor(whole.length / 2));
      await assert.rejects(runIn(at, { ...options, resume: true }), withCode("checkpoint.damaged"), file);
      writeFileSync(file, whole);
    }
    await engine.open("policy", join(checkpoints, before, "models", "policy"));
    // the fix that the error names: go on from the one before
    rmSync(join(checkpoints, last), { recursive: true });
    await runIn(at, { ...options, resume: true });
    assert.deepEqual(await traceOf(at), expected);
    await engine.dispose();
  });
}
