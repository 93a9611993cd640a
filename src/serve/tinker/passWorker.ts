/** Worker thread that parses long passes. */
import { parentPort } from "node:worker_threads";
import { type PassBody, readPassBody } from "./passBody.ts";

const port = parentPort!;
port.on("message", (body: PassBody) => port.postMessage(readPassBody(body)));
port.postMessage("ready");
