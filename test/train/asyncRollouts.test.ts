/** Rollouts that run ahead of learning: with which weights, in which order, and what a stop leaves. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Trajectory } from "../../src/core/types.ts";
import { tabularEngine } from "../../src/engine/tabular/engine.ts";
import { grpo } from "../../src/methods/baseline/grpo/method.ts";
import type { RunEvent } from "../../src/train/events.ts";
import type { RunOptions } from "../../src/train/run.ts";
import {
  delayed,
  echo,
  engines,
  folder,
  runIn,
  settings,
  spied,
  type Trace,
  traceOf,
  watched,
  withCode,
} from "./world.ts";

const options = (staleness: number, more: Partial<RunOptions> = {}): RunOptions => ({
  ...settings("tabular"),
  iterations: 6,
  staleness,
  ...more,
});

async function trace(chosen: RunOptions): Promise<Trace> {
  const root = folder();
  await runIn(root, chosen);
  return await traceOf(root);
}

const metric = ({ metrics }: Trace, name: string): number[] =>
  (metrics as { name: string; value: number }[]).filter((m) => m.name === name).map((m) => m.value);

/** Versions of the weights that played each iteration. */
function versions({ trajectories }: Trace): number[][] {
  const played = (trajectories as (Trajectory & { iteration: number; phase: string })[]).filter(
    (t) => t.phase === "train",
  );
  return [...Map.groupBy(played, (t) => t.iteration)]
    .toSorted(([a], [b]) => a - b)
    .map(([, ts]) => [...new Set(ts.flatMap((t) => t.turns.map(({ version }) => Number(version))))]);
}

test("each iteration is played by the weights of so many iterations before, and says so", async () => {
  const got = await trace(options(2));
  assert.deepEqual(metric(got, "staleness"), [0, 1, 2, 2, 2, 2]);
  // two steps an iteration (minibatches): 0, then one iteration's, then two
  assert.deepEqual(metric(got, "staleness.steps"), [0, 2, 4, 4, 4, 4]);
  const [first] = versions(got)[0]!;
  assert.deepEqual(
    versions(got),
    [0, 0, 0, 2, 4, 6].map((steps) => [first! + steps]),
  );
  assert.equal(metric(got, "importance")[0], 1, "the first was sampled by the very policy that learns");
  assert.ok(metric(got, "importance")[3] !== 1);
});

test("rollouts begin before the iterations before them are learnt from, and no earlier than allowed", async () => {
  const seen: string[] = [];
  let episodes = 0;
  const engine = spied(tabularEngine(), (name) => name === "accumulate" && seen.push("learn"));
  // before the run begins, its environment is tried
  let begun = false;
  const environment = watched(echo(), (task) => {
    if (begun && task.id.startsWith("echo/train/") && episodes++ % 12 === 0) seen.push("play");
  });
  const onEvent = (event: RunEvent): void => void (begun ||= event.type === "start");
  const calm = { warmStart: false, evaluation: { tasks: 0, every: 0 } };
  await runIn(folder(), options(1, { ...calm, engine, environment, iterations: 3 }), { onEvent });
  const [play, learn] = ["play", "learn"];
  // two steps an iteration
  assert.deepEqual(seen, [play, play, learn, learn, play, learn, learn, learn, learn]);
});

test("equal seeds give equal runs, however long episodes take and however many run at once", async () => {
  for (const name of ["tabular", "local"] as const) {
    const run = async (more: Partial<RunOptions>): Promise<Trace> => {
      const engine = engines[name]();
      const got = await trace({ ...settings(name, engine), iterations: 3, staleness: 1, ...more });
      await engine.dispose();
      return got;
    };
    const calm = await run({});
    assert.deepEqual(await run({ environment: delayed(echo()), concurrency: 5 }), calm, name);
  }
});

test("a stop while rollouts run ahead: the same end, from whichever checkpoint", async () => {
  const expected = await trace(options(2));
  for (const [episode, checkpointSeconds] of [
    [12 + 5, 1000],
    [12 + 36 + 3, 0],
    [12 + 50, 1000],
    [12 + 70, 0],
  ] as const) {
    const root = folder();
    const stopping = new AbortController();
    let episodes = 0;
    const environment = watched(echo(), (task) => {
      if (task.id.startsWith("echo/train/") && ++episodes === episode) stopping.abort();
    });
    const cut = options(2, { environment, checkpointSeconds });
    await assert.rejects(runIn(root, cut, { stop: stopping.signal }), (e) => e === stopping.signal.reason);
    await runIn(root, options(2, { resume: true }));
    assert.deepEqual(await traceOf(root), expected, `stopped at episode ${episode}`);
  }
});

test("a budget that is spent leaves attempts under way; a larger one goes on with them", async () => {
  const root = folder();
  await runIn(root, options(2, { budgetSeconds: 0 }));
  await runIn(root, options(2, { resume: true }));
  assert.deepEqual(metric(await traceOf(root), "staleness"), [0, 1, 2, 2, 2, 2]);
});

test("a run of another staleness is another run; without it nothing is said of it", async () => {
  const root = folder();
  await runIn(root, options(1));
  await assert.rejects(runIn(root, options(2, { resume: true })), withCode("run.different"));
  const plain = await trace(options(0));
  assert.deepEqual(metric(plain, "staleness"), []);
  assert.deepEqual(metric(plain, "importance"), []);
});

test("the cap 0 leaves ratios to the method", async () => {
  const got = await trace(options(2, { importanceCap: 0 }));
  assert.deepEqual(metric(got, "importance"), []);
  // clippedRatio compares with what sampled: it sees that the policy has moved on before the first step
  assert.ok(metric(got, "clippedRatio.kl")[3]! > metric(await trace(options(0)), "clippedRatio.kl")[3]!);
});

test("what counts as sampled is counted when it is learnt from", async () => {
  assert.deepEqual(
    metric(await trace(options(2)), "total.episodes"),
    metric(await trace(options(0)), "total.episodes"),
  );
});

test("a failing rollout ends the run when it is due, and a rollout that asks for what moves is refused", async () => {
  const base = grpo.build({ tasks: 3, groupSize: 4, learningRate: 0.3 });
  const asking = {
    ...base,
    frozen: { anchor: {} },
    slots: {
      ...base.slots,
      rollout: async (ctx: Parameters<typeof base.slots.rollout>[0]) => {
        ctx.frozen("anchor");
        return base.slots.rollout(ctx);
      },
    },
  };
  await runIn(folder(), options(0, { method: asking, iterations: 1 }));
  await assert.rejects(
    runIn(folder(), options(1, { method: asking })),
    withCode("capability.missing", /"anchor".*--staleness/),
  );
});

test("an engine that cannot keep weights is refused before the run", async () => {
  const engine = tabularEngine();
  const without = { ...engine, can: new Set([...engine.can].filter((c) => c !== "freeze")) };
  await assert.rejects(
    runIn(folder(), options(1, { engine: without })),
    withCode("capability.missing", /no freeze/),
  );
});
