/** Samples until it is told to end: `node endingChild.ts exit|throw|dispose start|work MILLISECONDS`. Expected exit code: 3. */
import { setTimeout as pause } from "node:timers/promises";
import { localEngine } from "../../../src/engine/local/index.ts";

const [, , how, since, ms] = process.argv;
process.on("uncaughtException", () => process.exit(3));
// large enough for the thread to be in native code most of the time
const size = { width: 384, layers: 3, heads: 6, kvHeads: 6, feedForward: 768 };
const engine = localEngine({ tokenizer: "bytes", size });
const working = Promise.withResolvers<void>();
let ending = false;

async function work(): Promise<void> {
  const model = await engine.create({ id: "policy", seed: 1, vocabulary: [], contextTokens: 128 });
  const requests = Array.from({ length: 8 }, (_, seed) => ({
    prompt: model.codec.open([{ role: "user", content: `${seed} hello there `.repeat(5) }]),
    maxTokens: 1,
    seed,
  }));
  while (!ending) {
    await model.sample(requests);
    working.resolve();
  }
}
// calls that wait for an ended thread are rejected
void work().catch(() => undefined);

if (since === "work") await working.promise;
await pause(Number(ms));
ending = true;
if (how === "exit") process.exit(3);
if (how === "throw") setImmediate(() => Promise.reject(new Error("an early error")));
else {
  await engine.dispose();
  process.exitCode = 3;
}
