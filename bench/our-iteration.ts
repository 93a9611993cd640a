/** Whole GRPO iterations through the library's own `train`, one at a time, with what passes outside the engine. */
import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import type { Model } from "../src/core/model.ts";
import type { Engine } from "../src/engine/engine.ts";
import { defineEnvironment, type Environment } from "../src/env/environment.ts";
import { grpo } from "../src/methods/baseline/grpo/method.ts";
import { train } from "../src/train/run.ts";
import { contextTokens, type SizeName, sizes, vocabularyOf } from "./workload.ts";

/** What one iteration consists of on every side. */
export interface IterationOrder {
  readonly size: SizeName;
  readonly folder: string;
  /** Where the run may write. */
  readonly scratch: string;
  readonly texts: readonly string[];
  readonly groupSize: number;
  readonly maxTokens: number;
  readonly tasksPerIteration: number;
  /** Rank of the adapter that is trained; all weights where there is none. */
  readonly lora?: number;
}

/** Reward as in peers/iteration.py: the share of a reply's words with an even number. */
function rewardOf(reply: string): number {
  const words = reply.split(/\s+/).filter((word) => word !== "");
  const even = words.filter((word) => /[02468]$/.test(word)).length;
  return words.length === 0 ? 0 : even / words.length;
}

function environmentOf({ size, texts, maxTokens }: IterationOrder): Environment {
  const vocabulary = vocabularyOf(sizes[size].vocabulary);
  return defineEnvironment({
    name: "bench",
    summary: "one reply to one message",
    abilities: new Set(),
    roles: ["agent"],
    splits: ["train"],
    limits: { turns: 1, actionTokens: maxTokens },
    vocabulary: () => vocabulary,
    tasks: () =>
      texts.map((content, i) => ({
        id: `task ${i}`,
        prompt: [{ role: "user", content }],
        metadata: {},
        seed: i,
      })),
    start: async () => ({
      observe: async () => ({ role: "agent", observation: { messages: [] } }),
      act: async ({ content }) => ({
        rewards: { outcome: rewardOf(content) },
        end: { kind: "done", reason: "replied", success: true },
      }),
    }),
  });
}

export interface IterationMeasure {
  readonly seconds: number;
  /** Tokens sampled. */
  readonly tokens: number;
  /** Seconds in which no call to the model was under way. */
  readonly outside: number;
  /** Most resident memory of the process so far, in MiB. */
  readonly peak: number;
}

/**
 * Lets a run pass one iteration at a time: an iteration begins and ends when all its episodes wait for their first
 * sample. In between everything counts: sampling, learning, records, checkpoints.
 */
function turnstile(episodes: number) {
  let open = Promise.withResolvers<void>();
  let arrived = Promise.withResolvers<void>();
  let waiting = 0;
  let underWay = 0;
  let since = 0;
  let outside = 0;
  let tokens = 0;

  async function timed<T>(call: () => Promise<T>): Promise<T> {
    if (underWay++ === 0) outside += performance.now() - since;
    try {
      return await call();
    } finally {
      if (--underWay === 0) since = performance.now();
    }
  }

  function watched(model: Model): Model {
    const watching: Pick<Model, "sample" | "score" | "accumulate" | "step"> = {
      async sample(requests) {
        waiting += requests.length;
        const passes = open.promise;
        if (waiting === episodes) {
          // this iteration's clock stops here, and the next one's starts when the gate opens
          if (underWay === 0) outside += performance.now() - since;
          arrived.resolve();
        }
        await passes;
        const samples = await timed(() => model.sample(requests));
        for (const { action } of samples) tokens += action.length;
        return samples;
      },
      score: (rows, want) => timed(() => model.score(rows, want)),
      accumulate: (batch, objective, aux, into) => timed(() => model.accumulate(batch, objective, aux, into)),
      step: (rule) => timed(() => model.step(rule)),
    };
    return new Proxy(model, {
      get: (target, name) =>
        Object.hasOwn(watching, name) ? watching[name as keyof typeof watching] : Reflect.get(target, name),
    });
  }

  return {
    watched,
    /** All episodes of the next iteration wait. */
    ready: () => arrived.promise,
    async pass(): Promise<Omit<IterationMeasure, "peak">> {
      outside = 0;
      tokens = 0;
      waiting = 0;
      arrived = Promise.withResolvers();
      const began = performance.now();
      since = began;
      const opened = open;
      open = Promise.withResolvers();
      opened.resolve();
      await arrived.promise;
      return { seconds: (performance.now() - began) / 1000, tokens, outside: outside / 1000 };
    },
  };
}

/** Requests: `start` sets a run going up to its first iteration, `iterate` lets it do some. */
export function iterations(
  engineOf: (size: SizeName) => Engine,
  adaptedFrom: (folder: string, rank: number) => Engine,
  memory: () => { readonly peak: number },
) {
  let current: ReturnType<typeof turnstile> | undefined;
  let failure: Promise<never> | undefined;
  return {
    async start(order: IterationOrder) {
      const { tasksPerIteration, groupSize, folder, scratch, lora } = order;
      const gate = turnstile(tasksPerIteration * groupSize);
      const engine = lora === undefined ? engineOf(order.size) : adaptedFrom(folder, lora);
      const watchedEngine: Engine = {
        ...engine,
        create: async (request) =>
          gate.watched(await (lora === undefined ? engine.open(request.id, folder) : engine.create(request))),
      };
      const run = train(
        {
          environment: environmentOf(order),
          method: grpo.build({
            tasks: tasksPerIteration,
            groupSize,
            minibatches: 1,
            learningRate: 1e-5,
            schedule: "constant",
            warmUp: 0,
          }),
          engine: watchedEngine,
          iterations: 1_000_000,
          contextTokens,
          concurrency: tasksPerIteration * groupSize,
          out: join(mkdtempSync(join(scratch, "run-")), "run"),
          evaluation: { tasks: 0, every: 0 },
        },
        () => undefined,
        new AbortController().signal,
      );
      current = gate;
      failure = run.then(() => {
        throw new Error("the run ended");
      });
      failure.catch(() => undefined);
      await Promise.race([gate.ready(), failure]);
    },

    async iterate({ times = 1 }: { times?: number }): Promise<IterationMeasure> {
      if (!current || !failure) throw new Error("no run was started");
      const sum = { seconds: 0, tokens: 0, outside: 0 };
      for (let i = 0; i < times; i++) {
        const one = await Promise.race([current.pass(), failure]);
        sum.seconds += one.seconds;
        sum.tokens += one.tokens;
        sum.outside += one.outside;
      }
      return { ...sum, peak: memory().peak };
    },
  };
}
