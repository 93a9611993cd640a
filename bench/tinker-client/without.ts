/** The other half of a pair: an engine that answers as the stub does, after the same waits, without the client. */
import type { Codec, Model } from "../../src/core/model.ts";
import type { Engine } from "../../src/engine/engine.ts";
import { tinkerCan } from "../../src/engine/tinker/model.ts";
import { logp, tokenOf } from "./stub.ts";

/**
 * Answers that an iteration has to wait for, one after the other: a call is taken, and its result is asked for. A step is
 * sent behind its backward pass once that was taken.
 */
export const rounds = { sampler: 2, sample: 2, forward: 2, backwardAndStep: 3 } as const;

/** @param after waits for so many answers, one after the other. */
export function engineWithout(codec: Codec, after: (answers: number) => Promise<unknown>): Engine {
  const unable = async (): Promise<never> => {
    throw new Error("the bench trains one model from its start, and no more");
  };
  const alike = (length: number): Float32Array => new Float32Array(length).fill(logp);

  function modelOf(id: string, contextTokens: number): Model {
    let [version, sampled] = [0, 0];
    // for all that are under way: who goes on one after the other, asks one after the other
    let [sampler, samples]: (Promise<unknown> | undefined)[] = [];
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
        await (sampler ??= after(rounds.sampler));
        await (samples ??= after(rounds.sample));
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
        await after(rounds.forward);
        const said = { logp: alike(batch.target_A.length), heads: {} };
        return { ...objective.evaluate(said, batch, aux).stats, targets: said.logp.length };
      },
      async step() {
        await after(rounds.backwardAndStep);
        version++;
        [sampler, samples] = [undefined, undefined];
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
