/** The other half of a pair: an engine that answers as the stub does, after the same waits, with no client and no server. */
import { setTimeout as wait } from "node:timers/promises";
import type { Codec, Model } from "../../src/core/model.ts";
import type { Engine } from "../../src/engine/engine.ts";
import { tinkerCan } from "../../src/engine/tinker/model.ts";
import { logp, tokenOf } from "./stub.ts";

/**
 * Answers that an iteration has to wait for, one after the other: a call is taken, and its result is asked for. A step is
 * sent behind its backward pass once that was taken.
 */
export const rounds = { sampler: 2, sample: 2, forward: 2, backwardAndStep: 3 } as const;

/** @param latency of each answer, in milliseconds. */
export function engineWithout(codec: Codec, latency: number): Engine {
  const unable = async (): Promise<never> => {
    throw new Error("the bench trains one model from its start, and no more");
  };
  const alike = (length: number): Float32Array => new Float32Array(length).fill(logp);

  function modelOf(id: string, contextTokens: number): Model {
    let [version, sampled] = [0, 0];
    let sampler: Promise<unknown> | undefined;
    return {
      id,
      get version() {
        return String(version);
      },
      can: tinkerCan,
      codec,
      contextTokens,
      parameters: 0,
      async sample(requests) {
        await (sampler ??= wait(rounds.sampler * latency));
        await wait(rounds.sample * latency);
        return requests.map(({ maxTokens }) => ({
          action: new Int32Array(maxTokens).fill(tokenOf(sampled++)),
          logp: alike(maxTokens),
          behaviour: alike(maxTokens),
          stop: "length",
          version: String(version),
        }));
      },
      score: unable,
      async accumulate(batch, objective, aux) {
        await wait(rounds.forward * latency);
        const said = { logp: alike(batch.target_A.length), heads: {} };
        return { ...objective.evaluate(said, batch, aux).stats, targets: said.logp.length };
      },
      async step() {
        await wait(rounds.backwardAndStep * latency);
        version++;
        sampler = undefined;
        return { gradientNorm: 1 };
      },
      freeze: unable,
      fork: unable,
      save: async () => {},
      load: unable,
      dispose: async () => {},
    };
  }
  return {
    name: "without",
    can: tinkerCan,
    create: async ({ id, contextTokens }) => modelOf(id, contextTokens),
    open: unable,
    dispose: async () => {},
  };
}
