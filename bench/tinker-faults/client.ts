// One run on a server, gone on with where it stands: node bench/tinker-faults/client.ts URL TOKENIZER OUT ITERATIONS PATIENCE STALENESS
//
// Prints a line when it begins and after each iteration. Ends with 0 when the run is done, and with 1 and the error's words when it had to stop.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { isWhetstoneError, messageOf } from "../../src/core/errors.ts";
import { readCodec } from "../../src/engine/local/readCodec.ts";
import { tinkerEngine } from "../../src/engine/tinker/index.ts";
import type { Environment } from "../../src/env/environment.ts";
import { grpo } from "../../src/methods/baseline/grpo/method.ts";
import { train } from "../../src/train/run.ts";

/** Pays for even bytes: something that replies of random weights differ in, so that every step changes the weights. */
const letters: Environment = {
  name: "letters",
  summary: "write even bytes",
  abilities: new Set(),
  roles: ["agent"],
  splits: ["train"],
  limits: { turns: 1, actionTokens: 6 },
  tasks: () =>
    Array.from({ length: 4 }, (_, i) => ({
      id: `letters/${i}`,
      prompt: [{ role: "user", content: "abcd"[i] ?? "" }],
      metadata: {},
      seed: i,
    })),
  vocabulary: () => [],
  start: async () => ({
    observe: async () => ({ role: "agent", observation: { messages: [] } }),
    async act({ content }) {
      const bytes = [...Buffer.from(content)];
      const even = bytes.filter((byte) => byte % 2 === 0).length;
      return {
        rewards: { even: even / Math.max(1, bytes.length) },
        end: { kind: "done", reason: "written", success: even === bytes.length },
      };
    },
  }),
};

const [url = "", tokenizer = "", out = "", iterations = "4", patience = "2000", staleness = "0"] =
  process.argv.slice(2);
const engine = tinkerEngine({
  url,
  baseModel: "tiny",
  codec: await readCodec(tokenizer),
  key: "tml-faults",
  rank: 4,
  probe: false,
  patienceSeconds: Number(patience),
  // as patient in turns as ever, and twenty times as fast
  wait: (ms) => pause(ms / 20),
});
try {
  await train(
    {
      environment: letters,
      engine,
      method: grpo.build({ tasks: 2, groupSize: 3, minibatches: 2, learningRate: 0.01 }),
      iterations: Number(iterations),
      staleness: Number(staleness),
      out,
      store: join(out, "..", "store.sqlite"),
      resume: existsSync(join(out, "run.json")),
      contextTokens: 128,
      checkpointSeconds: 0,
      warmStart: false,
      evaluation: { tasks: 0, every: 0 },
    },
    (event) => {
      if (event.type === "start" || event.type === "iteration") console.log(event.type);
    },
    new AbortController().signal,
  );
} catch (e) {
  console.error(isWhetstoneError(e) ? e.message : String(messageOf(e)));
  process.exitCode = 1;
} finally {
  await engine.dispose();
}
