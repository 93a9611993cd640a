/** Worker thread that reads long OTLP requests. */
import { parentPort } from "node:worker_threads";
import { type ReadRequest, readSpanBytes } from "./otlpRead.ts";

const port = parentPort!;
port.on("message", (request: ReadRequest) => port.postMessage(readSpanBytes(request)));
port.postMessage("ready");
