/** Which first actions of a group may be drawn in one call. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { SampleRequest } from "../../src/core/model.ts";
import type { Engine } from "../../src/engine/engine.ts";
import { tabularEngine } from "../../src/engine/tabular/engine.ts";
import type { Environment } from "../../src/env/environment.ts";
import { grpo } from "../../src/methods/baseline/grpo/method.ts";
import { trainInMemory } from "../../src/train/trainInMemory.ts";
import { delayed, echo } from "./world.ts";

/** All requests for samples of two iterations: two tasks, three attempts, two turns each. */
async function requestsIn(environment: Environment): Promise<SampleRequest[]> {
  const heard: SampleRequest[] = [];
  const engine = tabularEngine();
  const listening: Engine = {
    ...engine,
    async create(options) {
      const model = await engine.create(options);
      const sample = model.sample.bind(model);
      model.sample = (requests) => {
        heard.push(...requests);
        return sample(requests);
      };
      return model;
    },
  };
  const method = grpo.build({ tasks: 2, groupSize: 3, minibatches: 1 });
  await trainInMemory({ environment, method, engine: listening, seed: 1, iterations: 2 });
  return heard;
}

test("the openings of a group are numbered draws from one seed, later turns are drawn alone", async () => {
  const heard = await requestsIn(delayed(echo({ abilities: new Set(["replay"] as const) })));
  assert.equal(heard.length, 2 * 2 * 3 * 2);
  const draws = heard.flatMap(({ draw, prompt }) => (draw ? [{ ...draw, prompt: prompt.join() }] : []));
  assert.equal(draws.length, heard.length / 2);
  const groups = [...Map.groupBy(draws, ({ seed }) => seed).values()];
  assert.equal(groups.length, 2 * 2, "each task of each iteration has its own");
  for (const group of groups) {
    assert.deepEqual(group.map(({ index }) => index).sort(), [0, 1, 2]);
    assert.deepEqual(
      group.map(({ of }) => of),
      [3, 3, 3],
    );
    assert.equal(new Set(group.map(({ prompt }) => prompt)).size, 1);
  }
});

test("an episode that may begin otherwise than the rest of its group is drawn alone", async () => {
  const heard = await requestsIn(echo());
  assert.deepEqual(
    heard.filter(({ draw }) => draw),
    [],
  );
});
