/** Answers the engine's calls: holds the models of one device. In Node it runs in a thread of its own, in a page within the page's. */
import { isWhetstoneError, messageOf, WhetstoneError } from "../../core/errors.ts";
import type { Codec } from "../../core/model.ts";
import { TensorError } from "../../tensor/error.ts";
import type { ComputeDevice, DeviceModel } from "./deviceModel.ts";
import type { Architecture } from "./parameters.ts";
import type { Calls, Handle, Reply, Request, SpecialTokens } from "./protocol.ts";
import { type Sampler, sampler } from "./sampler.ts";
import { type SchedulerParts, scheduler } from "./scheduler.ts";
import type { TokenizerFiles } from "./tokenizer.ts";

export interface ServedParts extends Pick<SchedulerParts, "nextTurn"> {
  /** Opens the device, with its first model. */
  open(): Promise<ComputeDevice>;
  codecOf(tokenizer: TokenizerFiles): Promise<Codec> | Codec;
  reply(message: Reply): void;
}

interface Held {
  readonly architecture: Architecture;
  readonly marks: SpecialTokens;
  /** Shared with the model's copies. */
  readonly words: Words;
  readonly on: DeviceModel;
}

/** Created on first use: this takes long, and few requests have stop strings. */
interface Words {
  decode?: Codec["decode"];
}

function textOf({ decode }: Words, ids: Int32Array): string {
  if (decode) return decode(ids);
  throw new WhetstoneError("engine.failed", {
    where: "local engine",
    got: "a request with stop strings before the token texts of its model",
    expected: "the token texts first",
    fix: "Report this: it is a bug in the engine.",
  });
}

/** What the host makes its error of: the code and parts of one that says what to do. */
function codeOf(e: unknown) {
  if (isWhetstoneError(e)) return { code: e.code, parts: { ...e.parts, cause: undefined } };
  // a device that fails; other errors of the tensor room are ours
  if (e instanceof TensorError && e.where === "gpu")
    return { code: "engine.failed", parts: { where: "local engine, gpu", ...e.parts } };
  return {};
}

/** @returns what takes the calls. */
export function served({
  open: openDevice,
  codecOf,
  reply,
  nextTurn,
}: ServedParts): (request: Request) => void {
  const models = new Map<Handle, Held>();
  /** Samplers of models with open requests. */
  const sampling = new Map<Handle, Sampler>();
  let nextHandle = 1;
  let opened: ComputeDevice | undefined;

  function modelOf(handle: Handle): Held {
    const model = models.get(handle);
    if (model) return model;
    throw new WhetstoneError("engine.failed", {
      where: "local engine",
      got: "a call to a model that was disposed of",
      expected: "a live model",
      fix: "Dispose of a model only after its last use.",
    });
  }

  const onDevice = (handle: Handle): DeviceModel => modelOf(handle).on;

  /** A model to mix in. @throws WhetstoneError `capability.missing` where it has another architecture. */
  function mixable(handle: Handle, own: DeviceModel): DeviceModel {
    const { on } = modelOf(handle);
    if (on.kind === own.kind) return on;
    throw new WhetstoneError("capability.missing", {
      where: "local engine, sampling",
      got: "a mixture of models with different architectures",
      expected: "a frozen copy of the model that samples",
      fix: "Mix a model with its own frozen copies only.",
    });
  }

  function add(model: Held): Handle {
    const handle = nextHandle++;
    models.set(handle, model);
    return handle;
  }

  const calls: {
    [K in keyof Calls]: (
      ...args: Parameters<Calls[K]>
    ) => ReturnType<Calls[K]> | Promise<ReturnType<Calls[K]>>;
  } = {
    async create(architecture, marks, contents) {
      opened ??= await openDevice();
      const on = await opened.create(architecture, contents);
      return add({ architecture, marks, words: {}, on });
    },
    async words(handle, tokenizer) {
      modelOf(handle).words.decode = (await codecOf(tokenizer)).decode;
    },
    sample(handle, requests, watch, told) {
      const { architecture, marks, words, on } = modelOf(handle);
      const codec = { ...marks, decode: (ids: Int32Array) => textOf(words, ids) };
      const open = (): Sampler =>
        sampler({
          config: architecture.config,
          codec,
          models: on.readings({ codec, other: (of) => mixable(of, on) }),
          version: String(on.version),
        });
      const joined = sampling.get(handle) ?? open();
      sampling.set(handle, joined);
      const tell = (request: number, token: number): void => {
        if (told) reply({ watch: watch!, request, token });
      };
      return joined.sample(requests, watch === undefined ? undefined : { id: watch, tell });
    },
    cancel(handle, watch) {
      sampling.get(handle)?.cancel(watch);
    },
    forward: (handle, rows, wanted, keep) => onDevice(handle).forward(rows, wanted, keep),
    backward: (handle, into, cotangents) => onDevice(handle).backward(into, cotangents),
    inputGradient: (handle, cotangents) => onDevice(handle).inputGradient(cotangents),
    async step(handle, rule, pull) {
      const on = onDevice(handle);
      const toward = pull && { toward: onDevice(pull.toward), strength: pull.strength };
      return { stats: await on.step(rule, toward), version: on.version };
    },
    async copy(handle, optimiser) {
      const model = modelOf(handle);
      return add({ ...model, on: await model.on.copy(optimiser) });
    },
    async blend(handle, toward, rate) {
      const on = onDevice(handle);
      await on.blend(onDevice(toward), rate);
      return on.version;
    },
    dot: (handle, a, b) => onDevice(handle).dot(a, b),
    combine: (handle, sum) => onDevice(handle).combine(sum),
    contents: (handle, which) => onDevice(handle).contents(which),
    replace: (handle, contents) => onDevice(handle).replace(contents),
    memory: async (handle, use) => (await onDevice(handle).memory?.(use)) ?? null,
    drop(handle) {
      models.get(handle)?.on.drop();
      models.delete(handle);
    },
  };

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
          ...codeOf(e),
          ...(e instanceof Error && e.stack ? { stack: e.stack } : {}),
        },
      });
    }
  }

  return scheduler({ answer, sampling, nextTurn });
}
