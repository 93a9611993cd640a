/** The thread that notices when the main thread is in code that does not return, such as an evaluator's endless loop. */
import { Session } from "node:inspector";
import { workerData } from "node:worker_threads";
import type { Watched } from "./interrupted.ts";

const { beats, ms, event } = workerData as Watched;
let [seen, at, told] = [0, performance.now(), false];

setInterval(() => {
  const now = Atomics.load(beats, 0);
  if (now !== seen) [seen, at, told] = [now, performance.now(), false];
  if (told || performance.now() - at < ms) return;
  told = true;
  // the only way into a thread that is running: between two of its instructions
  const session = new Session();
  session.connectToMainThread();
  const expression = `process.emit(${JSON.stringify(event)})`;
  session.post("Runtime.evaluate", { expression }, () => session.disconnect());
}, ms / 10);
