/** The engine thread: holds models, runs sessions. ONNX Runtime blocks its thread, so nothing else lives here. */
import { parentPort, workerData } from "node:worker_threads";
import { isWhetstoneError, messageOf, WhetstoneError } from "../../core/errors.ts";
import type { Codec, Sample, SampleRequest } from "../../core/model.ts";
import type { TypedArray } from "../../tensor/index.ts";
import { chatCodec } from "./codec.ts";
import type { DecoderConfig } from "./config.ts";
import { type Programs, programs } from "./programs.ts";
import type { Calls, Handle, ModelContents, PaddedRows, Reply, Request } from "./protocol.ts";
import { sampleAll } from "./sampler.ts";
import {
  addInto,
  blend,
  copyOf,
  dot,
  type ModelState,
  mainGradient,
  optimiserStep,
  zerosLike,
} from "./weights.ts";

interface Held {
  readonly config: DecoderConfig;
  readonly codec: Codec;
  readonly programs: Programs;
  readonly state: ModelState;
}

const { threads } = workerData as { readonly threads: number };
const port = parentPort!;
const models = new Map<Handle, Held>();
/** Models of one shape share their programs. */
const programsByShape = new Map<string, Programs>();
let nextHandle = 1;
/** What the last forward of a model left for its backward. */
const kept = new Map<Handle, { rows: PaddedRows; residuals: Record<string, TypedArray> }>();

function held(handle: Handle): Held {
  const model = models.get(handle);
  if (model) return model;
  throw new WhetstoneError("engine.failed", {
    where: "local engine",
    got: "a call to a model that was disposed of",
    expected: "a live model",
    mend: "Dispose of a model only after its last use.",
  });
}

function stateOf({ weights, first, second, steps, version }: ModelContents): ModelState {
  return { weights, ...(first && second ? { first, second } : {}), steps, version, gradients: new Map() };
}

function contentsOf({ weights, first, second, steps, version }: ModelState): ModelContents {
  return {
    weights: copyOf(weights),
    ...(first && second ? { first: copyOf(first), second: copyOf(second) } : {}),
    steps,
    version,
  };
}

function add(model: Held): Handle {
  const handle = nextHandle++;
  models.set(handle, model);
  return handle;
}

const calls: {
  [K in keyof Calls]: (...args: Parameters<Calls[K]>) => ReturnType<Calls[K]> | Promise<ReturnType<Calls[K]>>;
} = {
  create(config, tokenizer, contents) {
    const shape = JSON.stringify(config);
    const shared = programsByShape.get(shape) ?? programs(config, threads);
    programsByShape.set(shape, shared);
    return add({ config, codec: chatCodec(tokenizer), programs: shared, state: stateOf(contents) });
  },
  sample: (handle, requests) => {
    const { config, codec, programs, state } = held(handle);
    return sampleAll(
      { config, codec, programs, weights: state.weights, version: String(state.version) },
      requests,
    );
  },
  async forward(handle, rows, keep) {
    const { programs, state } = held(handle);
    const feeds = {
      ...Object.fromEntries(state.weights),
      tokens: rows.tokens,
      context: rows.context,
      targets: rows.targets,
    };
    if (!keep) {
      const out = await (await programs.score(rows.B, rows.T, rows.A)).run(feeds);
      return { logp: out.logp as Float32Array, entropy: out.entropy as Float32Array };
    }
    const { forward, kept: names } = await programs.train(rows.B, rows.T, rows.A);
    const out = await forward.run(feeds);
    kept.set(handle, { rows, residuals: Object.fromEntries(names.map((n) => [n, out[`kept.${n}`]!])) });
    return { logp: out.logp as Float32Array, entropy: out.entropy as Float32Array };
  },
  async backward(handle, into, cotangents) {
    const { programs, state } = held(handle);
    const left = kept.get(handle);
    if (!left) {
      throw new WhetstoneError("engine.failed", {
        where: "local engine",
        got: "a backward call without its forward",
        expected: "forward and backward in turn",
        mend: "Report this: the engine pairs them itself.",
      });
    }
    const { rows, residuals } = left;
    kept.delete(handle);
    const { backward, backwardEntropy } = await programs.train(rows.B, rows.T, rows.A);
    const session = cotangents.entropy ? await backwardEntropy() : backward;
    const out = await session.run({
      ...Object.fromEntries(state.weights),
      tokens: rows.tokens,
      context: rows.context,
      targets: rows.targets,
      ...residuals,
      "d.logp": cotangents.logp,
      ...(cotangents.entropy ? { "d.entropy": cotangents.entropy } : {}),
    });
    let buffer = state.gradients.get(into);
    if (!buffer) {
      buffer = zerosLike(state.weights);
      state.gradients.set(into, buffer);
    }
    addInto(
      buffer,
      new Map([...state.weights.keys()].map((name) => [name, out[`d.${name}`] as Float32Array])),
    );
  },
  step(handle, rule, pull) {
    const { state } = held(handle);
    const toward = pull && { toward: held(pull.toward).state.weights, strength: pull.strength };
    return { stats: optimiserStep(state, rule, toward), version: state.version };
  },
  copy(handle, optimiser) {
    const model = held(handle);
    const { weights, first, second, steps, version } = contentsOf(model.state);
    const state =
      optimiser === "copy" && first && second
        ? { weights, first, second, steps, version }
        : { weights, steps: 0, version };
    return add({ ...model, state: stateOf(state) });
  },
  blend(handle, toward, rate) {
    const { state } = held(handle);
    blend(state.weights, held(toward).state.weights, rate);
    return ++state.version;
  },
  dot(handle, a, b) {
    const { gradients, weights } = held(handle).state;
    return dot(gradients.get(a) ?? zerosLike(weights), gradients.get(b) ?? zerosLike(weights));
  },
  combine(handle, sum) {
    const { gradients, weights } = held(handle).state;
    const out = zerosLike(weights);
    for (const [name, scale] of Object.entries(sum)) {
      const part = gradients.get(name);
      if (part) addInto(out, part, scale);
    }
    gradients.set(mainGradient, out);
  },
  contents: (handle) => contentsOf(held(handle).state),
  replace(handle, contents) {
    const model = held(handle);
    models.set(handle, { ...model, state: stateOf(contents) });
  },
  drop(handle) {
    models.delete(handle);
    kept.delete(handle);
  },
};

function reply(message: Reply): void {
  port.postMessage(message);
}

async function answer({ id, call, args }: Request): Promise<void> {
  try {
    // the host's typed proxy made the arguments; the protocol is the one place where that is taken on trust
    const run = calls[call] as (...args: readonly unknown[]) => unknown;
    reply({ id, value: await run(...args) });
  } catch (e) {
    reply({
      id,
      error: {
        message: messageOf(e),
        ...(isWhetstoneError(e) ? { code: e.code, parts: { ...e.parts, cause: undefined } } : {}),
        ...(e instanceof Error && e.stack ? { stack: e.stack } : {}),
      },
    });
  }
}

type SampleCall = {
  readonly id: number;
  readonly handle: Handle;
  readonly requests: readonly SampleRequest[];
};

/** Requests that wait are sampled as one batch, whoever sent them. */
async function answerSamples(waiting: readonly SampleCall[]): Promise<void> {
  for (const [handle, same] of Map.groupBy(waiting, (w) => w.handle)) {
    try {
      const samples: Sample[] = await calls.sample(
        handle,
        same.flatMap((w) => w.requests),
      );
      let at = 0;
      for (const { id, requests } of same) reply({ id, value: samples.slice(at, (at += requests.length)) });
    } catch {
      // one bad request must not take the others with it: each by itself, so that the fault lands where it belongs
      for (const { id, requests } of same) await answer({ id, call: "sample", args: [handle, requests] });
    }
  }
}

const queue: Request[] = [];
let busy = false;

async function drain(): Promise<void> {
  if (busy) return;
  busy = true;
  while (queue.length > 0) {
    const next = queue.shift()!;
    if (next.call !== "sample") {
      await answer(next);
      continue;
    }
    const waiting = [next];
    while (queue[0]?.call === "sample") waiting.push(queue.shift()!);
    await answerSamples(
      waiting.map(({ id, args: [handle, requests] }) => ({
        id,
        handle: handle as Handle,
        requests: requests as readonly SampleRequest[],
      })),
    );
  }
  busy = false;
}

port.on("message", (request: Request) => {
  queue.push(request);
  setImmediate(() => void drain());
});
