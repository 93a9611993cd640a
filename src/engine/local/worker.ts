/** The engine thread: holds models and runs sessions. Native code blocks its thread, so nothing else runs here. */
import { setImmediate as nextTurn } from "node:timers/promises";
import { parentPort, workerData } from "node:worker_threads";
import type { ComputeDevice } from "./deviceModel.ts";
import { leave, nativeWork } from "./gate.ts";
import type { ThreadOptions } from "./host.ts";
import { served } from "./served.ts";

const { gate, prefixBytes, device, precision, memory, threads } = workerData as ThreadOptions;
const port = parentPort!;

/** Loaded for the device in use alone: the others' native code may be missing. */
const open = (): Promise<ComputeDevice> =>
  device === "gpu"
    ? import("./gpu/model.ts").then(({ gpuDevice }) =>
        gpuDevice({ precision, memory, software: process.env.WHETSTONE_SOFTWARE_GPU === "1" }),
      )
    : import("./cpuModel.ts").then(({ cpuDevice }) =>
        cpuDevice({ threads, device, native: nativeWork(gate) }, prefixBytes),
      );
/** The CPU's at once, so that the thread fails where its native code is missing; a GPU's with the first model, after it was tried. */
const opened = device === "gpu" ? undefined : await open();

const take = served({
  open: async () => opened ?? (await open()),
  codecOf: async (tokenizer) => (await import("./codec.ts")).chatCodec(tokenizer),
  reply: (message) => port.postMessage(message),
  nextTurn,
});
leave(gate); // native code is loaded
port.on("message", take);
