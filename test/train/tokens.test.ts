/** Rollouts never re-tokenise: what is trained on is, id by id, what was sampled, over all turns of an episode. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { Batch } from "../../src/core/batch.ts";
import type { Codec, Model, Sample, SampleRequest } from "../../src/core/model.ts";
import type { Engine } from "../../src/engine/engine.ts";
import { maze } from "../../src/env/maze.ts";
import { grpo } from "../../src/methods/baseline/grpo/method.ts";
import { folder, runIn, settings, tiny } from "./world.ts";

interface Recorded {
  readonly sampled: Map<string, Sample>;
  readonly trained: Batch[];
  codec?: Codec;
}

/** Keeps what a policy sampled, by its exact prompt and seed, and what it was trained on. */
function recording(engine: Engine, kept: Recorded): Engine {
  return {
    ...engine,
    async create(request) {
      const model = await engine.create(request);
      kept.codec = model.codec;
      return Object.defineProperties({} as Model, {
        ...Object.getOwnPropertyDescriptors(model),
        sample: {
          value: async (requests: readonly SampleRequest[]) => {
            const samples = await model.sample(requests);
            requests.forEach(({ prompt }, i) => {
              const { action } = samples[i]!;
              kept.sampled.set(`${prompt.join(" ")} > ${action.join(" ")}`, samples[i]!);
            });
            return samples;
          },
        },
        accumulate: {
          value: (batch: Batch, ...rest: [never, never]) => {
            kept.trained.push(batch);
            return model.accumulate(batch, ...rest);
          },
        },
      });
    },
  };
}

test("a local policy is trained on the tokens that it sampled, whatever they spell", async () => {
  const kept: Recorded = { sampled: new Map(), trained: [] };
  const engine = tiny();
  after(() => engine.dispose());
  const base = maze();
  const environment = { ...base, limits: { turns: 5, actionTokens: 4 } };
  await runIn(folder(), {
    ...settings("local", recording(engine, kept)),
    environment,
    // every turn of an untrained policy is garbage; its rewards are made up so that each row is trained on
    method: {
      ...grpo.build({ tasks: 3, groupSize: 4, minibatches: 1, epochs: 1 }),
      slots: {
        ...grpo.build({ tasks: 3, groupSize: 4, minibatches: 1, epochs: 1 }).slots,
        feedback: [
          async (_ctx, { trajectories }) =>
            trajectories.map((t, i) => ({
              kind: "reward",
              channel: "outcome",
              about: [{ trajectory: t.id }],
              value: i % 2,
              source: "test",
            })),
        ],
      },
    },
    contextTokens: 128,
    iterations: 2,
    warmStart: false,
    evaluation: { tasks: 0, every: 0 },
  });
  const { codec, sampled, trained } = kept;
  assert.equal(trained.length, 2);
  let actions = 0;
  let unlike = 0;
  let rowsOfManyTurns = 0;
  for (const batch of trained) {
    for (const [r, row] of batch.rows.entries()) {
      const from = batch.rowOffset[r]!;
      const tokens = batch.tokens_N.subarray(from, batch.rowOffset[r + 1]!);
      const targets = [...batch.target_A.subarray(batch.targetOffset[r]!, batch.targetOffset[r + 1]!)];
      const turns = Map.groupBy(targets.keys(), (i) => batch.turn_A[batch.targetOffset[r]! + i]!);
      if (turns.size > 2) rowsOfManyTurns++;
      for (const places of turns.values()) {
        const first = targets[places[0]!]! - from;
        const action = tokens.subarray(first, first + places.length);
        // the whole prompt, earlier actions and observations included, stands before the action as the sampler saw it
        const sample = sampled.get(`${tokens.subarray(0, first).join(" ")} > ${action.join(" ")}`);
        assert.ok(sample, `${row.trajectory}: a turn that nobody sampled`);
        const at = batch.targetOffset[r]! + places[0]!;
        assert.deepEqual(batch.logp_A.slice(at, at + places.length), sample.logp);
        assert.deepEqual(batch.behaviour_A.slice(at, at + places.length), sample.behaviour);
        actions++;
        const again = codec!.encode(codec!.decode(action));
        const spoken = action.at(-1) === codec!.endId ? action.subarray(0, -1) : action;
        if (again.join() !== spoken.join()) unlike++;
      }
    }
  }
  assert.ok(rowsOfManyTurns > 10, `${rowsOfManyTurns} rows of more than two turns`);
  assert.ok(unlike > actions / 10, `only ${unlike} of ${actions} actions would come out different`);
});
