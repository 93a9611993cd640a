/** Entry point of the engine thread. It starts inside the gate, since its first imports load native code. */
import { workerData } from "node:worker_threads";
import { leave } from "./gate.ts";
import type { ThreadOptions } from "./host.ts";

const { gate } = workerData as ThreadOptions;
process.once("exit", () => leave(gate)); // loading may fail
await import("./worker.ts");
