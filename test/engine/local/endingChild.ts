/** Samples and trains until it is told to end: `node endingChild.ts exit|throw|dispose MILLISECONDS`. Its exit code is to be 3. */
import { localEngine } from "../../../src/engine/local/index.ts";

const [, , how, ms] = process.argv;
const engine = localEngine({ tokenizer: "bytes" });
process.on("uncaughtException", () => process.exit(3));
setTimeout(() => {
  process.exitCode = 3;
  if (how === "exit") process.exit();
  if (how === "throw") throw new Error("an early error");
  if (how === "dispose") void engine.dispose();
}, Number(ms));

async function work(): Promise<void> {
  const model = await engine.create({ id: "policy", seed: 1, lexicon: [], contextTokens: 128 });
  const prompt = model.codec.open([{ role: "user", content: "hello there" }]);
  const requests = Array.from({ length: 16 }, (_, seed) => ({ prompt, maxTokens: 40, seed }));
  while (process.exitCode === undefined) await model.sample(requests);
}
// what waits for a thread that has ended is refused
work().catch(() => undefined);
