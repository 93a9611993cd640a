/** Stopped from outside: everything is saved, and the run goes on to the numbers it would have had. */
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { tabularEngine } from "../../src/engine/tabular/engine.ts";
import type { RunEvent } from "../../src/train/events.ts";
import { echo, folder, runIn, settings, spied, type Trace, traceOf, watched, withCode } from "./world.ts";

let expected: Trace;
before(async () => {
  const root = folder();
  await runIn(root, settings("tabular"));
  expected = await traceOf(root);
});

/** Stops a run at the n-th time that something happens in it, then goes on. @returns the events of the stopped part. */
async function stopped(
  what: "step" | "score" | "train" | "validation" | "test" | RunEvent["type"],
  nth: number,
  checkpointSeconds = 1000,
): Promise<readonly RunEvent[]> {
  const root = folder();
  const stopping = new AbortController();
  let times = 0;
  const happens = (name: string): void => {
    if (name === what && ++times === nth) stopping.abort();
  };
  const events: RunEvent[] = [];
  const onEvent = (event: RunEvent): void => {
    events.push(event);
    happens(event.type);
  };
  const options = { ...settings("tabular"), checkpointSeconds };
  const environment = watched(echo(), (task) => happens(task.id.split("/")[1]!));
  const engine = spied(tabularEngine(), happens);
  await assert.rejects(
    runIn(root, { ...options, environment, engine }, { stop: stopping.signal, onEvent }),
    (e) => e === stopping.signal.reason,
  );
  await runIn(root, { ...options, resume: true });
  assert.deepEqual(await traceOf(root), expected, `stopped at ${what} ${nth}`);
  return events;
}

test("a stop in the warm start, in a rollout, in an update, in an evaluation: the same end", async () => {
  await stopped("warmstart", 1);
  await stopped("score", 1);
  await stopped("step", 2);
  await stopped("test", 4);
  // demonstrations play the 12 training tasks, then come 12 episodes an iteration
  await stopped("train", 12 + 5);
  await stopped("train", 12 + 12 + 12);
  await stopped("step", 4 + 1);
  await stopped("step", 4 + 4);
  await stopped("validation", 6 + 3);
  await stopped("done", 1).catch((e) => assert.match(e.message, /Missing expected rejection/));
});

test("a stop says so last, and where the run stands", async () => {
  const events = await stopped("iteration", 3, 0);
  const last = events.at(-1)!;
  assert.ok(last.type === "interrupted");
  assert.equal(last.iteration, 3);
  assert.equal(last.run, "run");
});

test("a stop is noticed at the next action, not when the rollout is through", async () => {
  const stopping = new AbortController();
  // before the run begins, its environment is tried
  let begun = false;
  let starts = 0;
  const environment = watched(echo(), (task) => {
    if (begun && task.id.startsWith("echo/train/") && ++starts === 12 + 3) stopping.abort();
  });
  let samples = 0;
  const engine = spied(tabularEngine(), (name) => {
    if (name === "sample" && stopping.signal.aborted) samples++;
  });
  const options = { ...settings("tabular"), environment, engine };
  const onEvent = (event: RunEvent): void => void (begun ||= event.type === "start");
  await assert.rejects(runIn(folder(), options, { stop: stopping.signal, onEvent }));
  assert.equal(samples, 0);
  assert.equal(starts, 12 + 12); // all were let in at once, and ended before they acted
});

test("the best checkpoints are reported as they come", async () => {
  const { events } = await runIn(folder(), settings("tabular"));
  const saved = events.filter((e) => e.type === "checkpoint");
  const best = saved.filter((e) => e.best);
  assert.ok(best.length >= 1 && best.length <= 3);
  assert.match(best[0]!.folder, /best$/);
  assert.equal(best[0]!.iteration, 0); // the policy before training is a candidate
  assert.ok(saved.some((e) => !e.best));
});

test("a budget ends the training early; a larger one lets it go on", async () => {
  const root = folder();
  const options = { ...settings("tabular"), iterations: 5 };
  const none = await runIn(root, { ...options, budgetSeconds: 0 });
  assert.equal(none.summary.iterations, 0);
  assert.equal(none.events.at(-1)!.type, "done");
  const spent = await runIn(root, { ...options, budgetSeconds: 0, resume: true });
  assert.equal(spent.summary.iterations, 0);
  const more = await runIn(root, { ...options, budgetSeconds: 1000, resume: true });
  assert.equal(more.summary.iterations, 5);
  const calm = folder();
  await runIn(calm, options);
  assert.equal((await traceOf(root)).weights, (await traceOf(calm)).weights);
  const lefts = more.events.flatMap((e) => (e.type === "iteration" ? [e.secondsLeft] : []));
  assert.ok(lefts.every((left) => left >= 0));
  assert.equal(lefts.at(-1), 0);
});

test("resuming a run that is done changes nothing", async () => {
  const root = folder();
  await runIn(root, settings("tabular"));
  await runIn(root, { ...settings("tabular"), resume: true });
  assert.deepEqual(await traceOf(root), expected);
  await assert.rejects(runIn(root, settings("tabular")), withCode("run.exists", /--resume/));
});

test("a budget is one of training: the evaluation before it, however long, leaves it whole", async () => {
  let slow = true;
  const environment = watched(echo(), async (task) => {
    if (slow && task.id.startsWith("echo/test/")) await new Promise((go) => setTimeout(go, 1500));
  });
  const began = performance.now();
  const { summary } = await runIn(
    folder(),
    { ...settings("tabular"), ...{ environment, concurrency: 1, iterations: 1, budgetSeconds: 4 } },
    { onEvent: (event) => void (event.type === "evaluation" && (slow = false)) },
  );
  assert.ok(performance.now() - began > 4000);
  assert.equal(summary.iterations, 1);
});

test("a run whose every prompt fills the context is refused, and told how long the context has to be", async () => {
  const options = { ...settings("tabular"), contextTokens: 2, warmStart: false as const };
  await assert.rejects(
    runIn(folder(), options),
    /fill the context of 2 tokens.*Set --context-tokens above 4/s,
  );
});
