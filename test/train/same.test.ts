/** Same seed, same run: byte for byte, whatever the concurrency and however slowly the environment answers. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { delayed, echo, engines, folder, runIn, settings, type Trace, traceOf } from "./world.ts";

for (const name of ["local", "tabular"] as const) {
  const engine = engines[name]();
  after(() => engine.dispose());
  const trace = async (more: object): Promise<Trace> => {
    const root = folder();
    await runIn(root, { ...settings(name, engine), ...more });
    return traceOf(root);
  };

  test(`${name}: concurrency and the environment's speed change no byte, the seed does`, async () => {
    const first = await trace({ concurrency: 16 });
    assert.ok(first.trajectories.length > 48);
    assert.ok(first.metrics.length > 20);
    for (const concurrency of [1, 4, 16]) {
      const other = await trace({ concurrency, environment: delayed(echo()) });
      assert.deepEqual(other, first, `concurrency ${concurrency}`);
    }
    const another = await trace({ seed: 2 });
    assert.notEqual(another.weights, first.weights);
    assert.notDeepEqual(another.trajectories, first.trajectories);
  });
}
