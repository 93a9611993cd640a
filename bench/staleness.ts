// What rollouts gain that run ahead of learning: whole runs with the tinker engine against a stub that takes its time.
//
//     node bench/staleness.ts [--iterations 8] [--sample 400] [--spread 0.5] [--pass 150] [--step 50] [--rounds 3]
//
// Every round runs each staleness once. The first iterations, until as many are under way as may be, are left out.
// Episodes have two turns, one after the other. Writes bench/results/staleness.md.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { cpus, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { median } from "../src/common/statistics/statistics.ts";
import { chatCodec } from "../src/engine/local/codec.ts";
import { byteTokenizer } from "../src/engine/local/tokenizer.ts";
import { tinkerEngine } from "../src/engine/tinker/index.ts";
import { defineEnvironment } from "../src/env/environment.ts";
import { grpo } from "../src/methods/baseline/grpo/method.ts";
import { train } from "../src/train/run.ts";
import { progress } from "./report.ts";
import { serveStub } from "./staleness/stub.ts";

const { values } = parseArgs({
  options: {
    iterations: { type: "string", default: "8" },
    rounds: { type: "string", default: "3" },
    sample: { type: "string", default: "400" },
    spread: { type: "string", default: "0.5" },
    pass: { type: "string", default: "150" },
    step: { type: "string", default: "50" },
    out: { type: "string", default: join(import.meta.dirname, "results", "staleness.md") },
  },
});
const [iterations, rounds] = [Number(values.iterations), Number(values.rounds)];
const latencies = {
  sample: Number(values.sample),
  spread: Number(values.spread),
  pass: Number(values.pass),
  step: Number(values.step),
};
const stalenesses = [0, 1, 2, 3];
const [tasks, groupSize, turns] = [4, 4, 2];

const environment = defineEnvironment({
  name: "talk",
  summary: "says two things, and is paid by chance",
  abilities: new Set(),
  roles: ["agent"],
  splits: ["train"],
  limits: { turns, actionTokens: 8 },
  tasks: () =>
    Array.from({ length: 16 }, (_, i) => ({
      id: `talk/${i}`,
      prompt: [{ role: "user" as const, content: `Say something, number ${i}.` }],
      metadata: {},
      seed: i,
    })),
  vocabulary: () => [],
  start: async (_task, random) => {
    let said = 0;
    return {
      observe: async () => ({
        role: "agent",
        observation: { messages: said === 0 ? [] : [{ role: "user", content: "And more?" }] },
      }),
      act: async () => ({
        rewards: { paid: random.next() },
        ...(++said === turns && { end: { kind: "done" as const, reason: "said", success: true } }),
      }),
    };
  },
});

/** Seconds between the ends of iterations, and what share of them the learner waited for samples. */
async function measure(url: string, staleness: number): Promise<{ seconds: number[]; waited: number[] }> {
  const root = mkdtempSync(join(tmpdir(), "whetstone-staleness-"));
  const engine = tinkerEngine({ url, baseModel: "stub", codec: chatCodec(byteTokenizer()), probe: false });
  const [seconds, waited]: [number[], number[]] = [[], []];
  let last = 0;
  try {
    await train(
      {
        environment,
        engine,
        method: grpo.build({ tasks, groupSize, minibatches: 1, learningRate: 1e-4 }),
        iterations: iterations + staleness + 1,
        contextTokens: 256,
        staleness,
        out: join(root, "run"),
        warmStart: false,
        checkpointSeconds: 1e6,
        evaluation: { tasks: 0, every: 0 },
      },
      (event) => {
        if (event.type !== "iteration") return;
        const now = performance.now();
        if (event.iteration > staleness + 1) {
          seconds.push((now - last) / 1000);
          waited.push(event.metrics["seconds.waited"] ?? event.metrics["seconds.rollout"] ?? 0);
        }
        last = now;
      },
      new AbortController().signal,
    );
  } finally {
    await engine.dispose();
    rmSync(root, { recursive: true, force: true });
  }
  return { seconds, waited };
}

const stub = await serveStub(latencies);
const all = new Map(stalenesses.map((n) => [n, { seconds: [] as number[], waited: [] as number[] }]));
for (let round = 0; round < rounds; round++) {
  for (const n of stalenesses) {
    progress(`round ${round + 1} of ${rounds}, staleness ${n}`);
    const got = await measure(stub.url, n);
    all.get(n)!.seconds.push(...got.seconds);
    all.get(n)!.waited.push(...got.waited);
  }
}
stub.close();

const base = median(all.get(0)!.seconds);
const rows = [...all].map(([n, { seconds, waited }]) => {
  const [low, high] = [Math.min(...seconds), Math.max(...seconds)].map((s) => s.toFixed(2));
  const middle = median(seconds);
  return `| ${n} | ${middle.toFixed(2)} s | ${low} to ${high} s | ${(100 * (median(waited) / middle)).toFixed(0)} % | ${(base / middle).toFixed(2)} |`;
});
const text = [
  "# What rollouts gain that run ahead of learning",
  "",
  `GRPO with the tinker engine: ${tasks} tasks × ${groupSize} episodes of ${turns} turns, one step an iteration. A stub computes nothing and takes its time: a sample ${latencies.sample} ms in the median, log-normal with σ = ${latencies.spread}, any number side by side; a forward pass ${latencies.pass} ms, with a backward pass ${3 * latencies.pass} ms; a step, a snapshot or a proof ${latencies.step} ms; training operations one at a time. With staleness there is one forward pass more, for the importance weights, and one saving, of the weights that play. ${iterations} iterations, ${rounds} rounds in turn; ${cpus()[0]?.model}, ${cpus().length} cores, load ${loadavg()[0]!.toFixed(1)}.`,
  "",
  "| `--staleness` | iteration, median | lowest to highest | of it, waiting for samples | times as fast as 0 |",
  "|---|---|---|---|---|",
  ...rows,
  "",
].join("\n");
writeFileSync(values.out, text);
process.stdout.write(text);
