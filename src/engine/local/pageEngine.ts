/** The local engine in a web page: models from scratch, trained on the page's GPU, in memory alone. */
import { WhetstoneError } from "../../core/errors.ts";
import type { Model } from "../../core/model.ts";
import { randomStream } from "../../core/random.ts";
import type { AdapterFacts } from "../../tensor/wgsl/device.ts";
import type { Engine } from "../engine.ts";
import type { Host } from "./caller.ts";
import { callerOver } from "./caller.ts";
import type { GpuSettings } from "./gpu/kind.ts";
import { type GpuDevice, gpuDevice } from "./gpu/model.ts";
import { markerCodec } from "./markerCodec.ts";
import { type LocalParts, localCapabilities, localModel } from "./model.ts";
import { gridOf, placesFor } from "./packing.ts";
import { type Architecture, firstWeights, headParameters } from "./parameters.ts";
import { requireSize, type ScratchOptions, scratchModel } from "./scratch.ts";
import { served } from "./served.ts";

/** Settings of {@link pageEngine}. */
export interface PageEngineOptions extends Pick<ScratchOptions, "size" | "tokenizer"> {
  /** Of products: "f16" uses tensor cores where the adapter has them. Default "f32". */
  readonly precision?: GpuSettings["precision"];
  /** Whether a software adapter will do. It is slow: for tests. Default no. */
  readonly software?: boolean;
  /** Bytes for the activations of a micro-batch; a larger batch is split into several. Default 256 MiB. */
  readonly memory?: number;
}

/** Macrotasks follow one another at once by messages; a page's nested timers wait 4 ms. */
function turns(): { nextTurn(): Promise<void>; end(): void } {
  const { port1, port2 } = new MessageChannel();
  const waiting: (() => void)[] = [];
  port1.addEventListener("message", () => waiting.shift()?.());
  port1.start();
  return {
    nextTurn: () =>
      new Promise((go) => {
        waiting.push(go);
        port2.postMessage(null);
      }),
    end: () => port1.close(),
  };
}

/** Answers calls in the thread that makes them. As between threads, arrays are copied on the way in: the caller may change its own. */
function pageHost(device: GpuDevice): Host {
  const { nextTurn, end } = turns();
  const caller = callerOver((request) => take(structuredClone(request)));
  const take = served({
    open: async () => device,
    codecOf: markerCodec,
    reply: (message) => caller.receive(message),
    nextTurn,
  });
  return {
    get ended() {
      return caller.ended();
    },
    call: caller.call,
    watch: caller.watch,
    unwatch: caller.unwatch,
    async close() {
      caller.fail(new Error("the engine was disposed of"));
      end();
      device.close();
    },
  };
}

/** An engine on a page's GPU. */
export interface PageEngine extends Engine {
  readonly adapter: AdapterFacts;
}

/**
 * Models from scratch on the GPU of a web page, or of its worker: the local engine's computation and GPU kernels, without
 * files. Models cannot be saved or opened.
 * @throws WhetstoneError `option.range`; TensorError where the page has no GPU.
 */
export async function pageEngine(options: PageEngineOptions = {}): Promise<PageEngine> {
  const { precision = "f32", software = false, memory = 2 ** 28 } = options;
  if (options.size) requireSize(options.size);
  const device = await gpuDevice({ precision, memory, software });
  const host = pageHost(device);
  return {
    adapter: device.adapter,
    name: "local",
    can: localCapabilities,
    async create(request): Promise<Model> {
      const { id, seed, heads = [] } = request;
      const { config, tokenizer, weights } = scratchModel(options, request);
      const architecture: Architecture = { config, heads };
      const first = firstWeights(headParameters(config, heads), randomStream(seed).split("adapter", id));
      const codec = markerCodec(tokenizer);
      const contents = { weights: new Map([...weights, ...first]), steps: 0, version: 0 };
      const marks = { padId: codec.padId, endId: codec.endId };
      const handle = await host.call("create", architecture, marks, contents);
      const places = placesFor(architecture, memory, "gpu");
      const parts: LocalParts = { host, architecture, tokenizer, codec, places, grid: gridOf("gpu") };
      return localModel(id, parts, handle, { version: 0, base: undefined });
    },
    async open(_, folder) {
      throw new WhetstoneError("capability.missing", {
        where: "pageEngine",
        got: `the folder ${folder}`,
        expected: "a new model: a page has no folders",
        fix: "Open it in Node, with localEngine.",
      });
    },
    dispose: () => host.close(),
  };
}
