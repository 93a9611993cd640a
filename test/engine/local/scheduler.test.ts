// The order in which the engine thread answers, with a model's sampler that is a counter.

import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Request } from "../../../src/engine/local/protocol.ts";
import type { Sampler } from "../../../src/engine/local/sampler.ts";
import { scheduler } from "../../../src/engine/local/scheduler.ts";

/** A sampler that is done after so many steps. */
function counter(steps: number, mixed: readonly number[], done: () => void): Sampler {
  let left = steps;
  return {
    sample: async () => [],
    cancel() {},
    close() {},
    get busy() {
      return left > 0;
    },
    mixesIn: (of) => left > 0 && mixed.includes(of),
    async step() {
      if (--left === 0) done();
    },
  };
}

/** The models that sampling requests mix in. */
const mixedIn = (requests: unknown): number[] =>
  Array.isArray(requests) ? requests.map((request: { mix: { of: number } }) => request.mix.of) : [];

/** Sends calls, some of them when a step of a sampler is over, and lists what was answered in which order. */
async function orderOf(
  calls: readonly (readonly [call: Request["call"], ...args: unknown[]])[],
): Promise<string[]> {
  const log: string[] = [];
  const sampling = new Map<number, Sampler>();
  let finished: () => void = () => {};
  const ended = new Promise<void>((resolve) => {
    finished = resolve;
  });
  const send = scheduler({
    sampling,
    nextTurn,
    async answer({ call, args }) {
      const name = `${call} ${args.filter((x) => typeof x === "number").join(" ")}`;
      if (call !== "sample") log.push(name);
      else {
        const handle = args[0] as number;
        log.push(name);
        if (!sampling.has(handle))
          sampling.set(
            handle,
            counter(3, mixedIn(args[1]), () => log.push(`sampled ${handle}`)),
          );
      }
      if (call === "drop") finished();
    },
  });
  for (const [id, [call, ...args]] of calls.entries()) send({ id, call, args });
  await ended;
  return log;
}

test("a call that changes a model waits until it samples no more; what is asked of it later waits behind", async () => {
  const order = await orderOf([
    ["sample", 1],
    ["step", 1, {}],
    ["sample", 1],
    ["drop", 1],
  ]);
  assert.deepEqual(order, ["sample 1", "sampled 1", "step 1", "sample 1", "sampled 1", "drop 1"]);
});

test("calls that change nothing, and those of other models, go ahead", async () => {
  const order = await orderOf([
    ["sample", 1],
    ["step", 1, {}],
    ["sample", 2],
    ["contents", 2],
    ["step", 3, {}, { toward: 1, strength: 1 }],
    ["contents", 3],
    ["sample", 1],
    ["drop", 1],
  ]);
  // model 3 is pulled towards model 1 as it is after its step
  assert.deepEqual(order, [
    "sample 1",
    "sample 2",
    "contents 2",
    "sampled 1",
    "sampled 2",
    "step 1",
    "step 3",
    "contents 3",
    "sample 1",
    "sampled 1",
    "drop 1",
  ]);
});

test("a model that others mix in changes after their sampling, and is mixed in after its changes", async () => {
  const mix = { of: 2, share: 0.5 };
  const order = await orderOf([
    ["sample", 1, [{ mix }]],
    ["blend", 2, 3, 0.1],
    ["sample", 3, [{ mix }]],
    ["sample", 4],
    ["drop", 2],
  ]);
  assert.deepEqual(order, [
    "sample 1",
    "sample 4",
    "sampled 1",
    "sampled 4",
    "blend 2 3 0.1",
    "sample 3",
    "sampled 3",
    "drop 2",
  ]);
});
