/** An iteration's cost is estimated before the first one, compared with what came, and changes nothing. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, test } from "node:test";
import { recordedEstimate } from "../../src/cli/estimateLine.ts";
import { lineOf } from "../../src/cli/live.ts";
import type { Model } from "../../src/core/model.ts";
import { localEngine } from "../../src/engine/local/index.ts";
import { dapo } from "../../src/methods/baseline/dapo/method.ts";
import { openRunStore } from "../../src/store/runStore.ts";
import type { RunSettings } from "../../src/train/config.ts";
import { estimateIteration, type NoEstimate } from "../../src/train/estimate.ts";
import type { RunEvent } from "../../src/train/events.ts";
import type { RunOptions } from "../../src/train/run.ts";
import { folder, runIn, settings, traceOf } from "./world.ts";

const size = { width: 32, layers: 1, heads: 2, kvHeads: 2, feedForward: 32 };
const engines = {
  "all weights": localEngine({ size, threads: 1 }),
  "an adapter": localEngine({ size, threads: 1, lora: { rank: 2 } }),
};
after(() => Promise.all(Object.values(engines).map((engine) => engine.dispose())));

/** Long enough for a trial, as far as the plan goes; it ends after two iterations. */
const long = (engine = engines["all weights"]): RunOptions => ({
  ...settings("local", engine),
  iterations: 100_000,
  episodes: 2 * 3 * 4,
});

const estimates = (events: readonly RunEvent[]) => events.filter((e) => e.type === "estimate");

for (const [what, engine] of Object.entries(engines)) {
  test(`training ${what}, a run with an estimate ends in the same bytes as one without`, async () => {
    const [with_, without] = [folder(), folder()];
    const { events } = await runIn(with_, long(engine));
    const { plan, ...method } = long(engine).method;
    assert.deepEqual(plan, { tasks: 3, groupSize: 4, epochs: 1, minibatches: 2 });
    const other = await runIn(without, { ...long(engine), method });
    assert.equal(estimates(events).length, 1);
    assert.equal(estimates(other.events).length, 0);
    assert.deepEqual(await traceOf(with_), await traceOf(without));
  });
}

test("the estimate comes before the first iteration, and what came stands beside it in the run", async () => {
  const root = folder();
  const { events } = await runIn(root, { ...long(), episodes: 3 * 3 * 4, budgetSeconds: 1000 });
  const [before, later] = estimates(events);
  assert.ok(before && later);
  const at = (type: RunEvent["type"]): number => events.findIndex((e) => e.type === type);
  assert.ok(at("estimate") < at("iteration"));
  assert.ok(before.seconds > 0 && before.seconds < 60 && before.bytes > 2 ** 25);
  const expected = Math.min(100_000, 1000 / before.seconds); // all that are planned, or as many as the time allows
  assert.ok(Math.abs(before.iterations - expected) < 1 + 1 / before.seconds);
  assert.ok(later.came && later.came.seconds > 0 && later.came.bytes >= before.bytes);
  assert.match(
    lineOf(before)[0]!,
    /^estimate: an iteration takes about .* and .* GiB of memory; about .* iterations? in /,
  );
  assert.match(
    lineOf(later)[0]!,
    /^an iteration took .* GiB of memory; estimated .* GiB of memory; about .* iterations? in /,
  );
  const store = await openRunStore(join(root, "whetstone.sqlite"));
  const [run] = await store.runs();
  const metrics = await store.metrics(run!.id);
  await store.close();
  assert.match(
    recordedEstimate(metrics)!,
    /^an iteration took .* and 0\.\d GiB of memory; estimated .* and 0\.\d GiB of memory$/,
  );
  assert.equal(recordedEstimate([]), undefined);
});

test("there is no estimate for a short run, and one that goes on says why", async () => {
  const short = await runIn(folder(), settings("local", engines["all weights"]));
  assert.deepEqual(estimates(short.events), []);
  assert.deepEqual(
    short.events.filter(({ type }) => type === "no-estimate"),
    [],
  );

  assert.equal(dapo.build().plan, undefined);
  const policy = { can: new Set<string>(["train", "fork"]) } as unknown as Model;
  const without = (more: object, model = policy) => {
    const made = { method: dapo.build(), engine: {}, staleness: 0, ...more } as unknown as RunSettings;
    return estimateIteration({ policy: model, settings: made }, [], 5);
  };
  assert.deepEqual(await without({}), {
    why: "the method decides on the way what it plays, or has further models",
  });
  assert.deepEqual(await without({ staleness: 1 }), {
    why: "episodes are played while earlier ones are trained on",
  });
  const { why } = (await without({ engine: { remoteState: {} } })) as NoEstimate;
  assert.match(why, /on a server/);
  const fixed = { can: new Set<string>(["fork"]) } as unknown as Model;
  assert.deepEqual(lineOf({ type: "no-estimate", ...((await without({}, fixed)) as NoEstimate) }), [
    "no estimate: the policy has no weights to train",
  ]);
});
