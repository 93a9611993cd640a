// What the tinker engine's client adds to an iteration: whole runs against a stub that answers every call after 50 ms, in
// turn with the same runs on two engines that have no client: one asks the stub as often, one after the other, and sends and
// reads nothing; the other has timers in place of a server.
//
//     node bench/tinker-client.ts [--latency 50] [--iterations 20] [--rounds 3] [--samples 32] [--tokens 64]
//
// What is more than empty calls is the client's; what is more than timers is the client's and that of sockets, Node and the
// stub. What is left is the work of the loop, which it has with any engine. Runs of a round before the first are not counted.
// Writes results/tinker-client.md.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { cpus, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { parseArgs } from "node:util";
import { Pool } from "undici";
import { median } from "../src/common/statistics/statistics.ts";
import type { Engine } from "../src/engine/engine.ts";
import { chatCodec } from "../src/engine/local/codec.ts";
import { byteTokenizer } from "../src/engine/local/tokenizer.ts";
import { tinkerEngine } from "../src/engine/tinker/index.ts";
import { defineEnvironment } from "../src/env/environment.ts";
import { grpo } from "../src/methods/baseline/grpo/method.ts";
import { train } from "../src/train/run.ts";
import { progress } from "./report.ts";
import { sharesDuring } from "./tinker-client/rooms.ts";
import type { Held } from "./tinker-client/stub.ts";
import { rounds as answers, engineWithout } from "./tinker-client/without.ts";

const { values } = parseArgs({
  options: {
    latency: { type: "string", default: "50" },
    iterations: { type: "string", default: "20" },
    rounds: { type: "string", default: "3" },
    samples: { type: "string", default: "32" },
    tokens: { type: "string", default: "64" },
    out: { type: "string", default: join(import.meta.dirname, "results", "tinker-client.md") },
  },
});
const [latency, iterations, rounds] = [
  Number(values.latency),
  Number(values.iterations),
  Number(values.rounds),
];
const [samples, tokens] = [Number(values.samples), Number(values.tokens)];
const groupSize = 8;
const chain = Object.values<number>(answers).reduce((a, b) => a + b);
/** Of each run, before it is counted. */
const leftOut = 2;
const codec = chatCodec(byteTokenizer());
const question = "Which of these is the largest? ".repeat(8);

const environment = defineEnvironment({
  name: "question",
  summary: "says one thing, and is paid by its letters",
  abilities: new Set(["replay"] as const),
  roles: ["agent"],
  splits: ["train"],
  limits: { turns: 1, actionTokens: tokens },
  tasks: () =>
    Array.from({ length: 64 }, (_, i) => ({
      id: `question/${i}`,
      prompt: [{ role: "user" as const, content: question }],
      metadata: {},
      seed: i,
    })),
  vocabulary: () => [],
  start: async () => ({
    observe: async () => ({ role: "agent", observation: { messages: [] } }),
    act: async ({ content }) => ({
      rewards: { paid: content.charCodeAt(0) % 2 },
      end: { kind: "done" as const, reason: "said", success: true },
    }),
  }),
});

/** Of each iteration: its milliseconds, and those of processor time. */
interface Taken {
  readonly wall: number[];
  readonly cpu: number[];
}

async function run(engine: Engine, taken: Taken): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), "whetstone-tinker-client-"));
  let [began, used] = [performance.now(), process.cpuUsage()];
  try {
    await train(
      {
        environment,
        engine,
        method: grpo.build({ tasks: samples / groupSize, groupSize, minibatches: 1, learningRate: 1e-4 }),
        iterations: iterations + leftOut,
        contextTokens: 4096,
        out: join(root, "run"),
        warmStart: false,
        checkpointSeconds: 1e6,
        evaluation: { tasks: 0, every: 0 },
      },
      (event) => {
        if (event.type !== "iteration") return;
        const { user, system } = process.cpuUsage(used);
        if (event.iteration > leftOut) {
          taken.wall.push(performance.now() - began);
          taken.cpu.push((user + system) / 1000);
        }
        [began, used] = [performance.now(), process.cpuUsage()];
      },
      new AbortController().signal,
    );
  } finally {
    await engine.dispose();
    rmSync(root, { recursive: true, force: true });
  }
}

const load = loadavg()[0]!;
const stub = spawn(
  process.execPath,
  [join(import.meta.dirname, "tinker-client", "stub.ts"), values.latency],
  {
    stdio: ["ignore", "pipe", "inherit"],
  },
);
const port = await new Promise<string>((resolve) =>
  stub.stdout.once("data", (line: Buffer) => resolve(line.toString().trim())),
);
const url = `http://127.0.0.1:${port}`;
async function held(): Promise<Held> {
  const told: Held = JSON.parse(await (await fetch(`${url}/api/v1/held`, { method: "POST" })).text());
  return told;
}
const bare = new Pool(url);
/** Asks the stub so often, and says nothing. */
async function calls(count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    const { body } = await bare.request({ path: "/api/v1/bare", method: "POST", body: "{}" });
    await body.text();
  }
}
const engines = {
  client: () => tinkerEngine({ url, baseModel: "stub", codec, probe: false }),
  calls: () => engineWithout(codec, calls),
  timers: () => engineWithout(codec, (answers) => wait(answers * latency)),
};
const nothing = (): Record<keyof typeof engines, Taken> => ({
  client: { wall: [], cpu: [] },
  calls: { wall: [], cpu: [] },
  timers: { wall: [], cpu: [] },
});
let taken = nothing();
let asked = 0;
for (let round = 0; round <= rounds; round++) {
  progress(round === 0 ? "warming up" : `round ${round} of ${rounds}`);
  if (round === 1) taken = nothing();
  const before = await held();
  await run(engines.client(), taken.client);
  if (round > 0) asked += (await held()).calls - before.calls;
  await run(engines.calls(), taken.calls);
  await run(engines.timers(), taken.timers);
}
progress("once more, for where the processor time goes");
const places = ["src/engine/tinker", "node_modules/undici"] as const;
const [ownShare = 0, undiciShare = 0] = await sharesDuring(places, () =>
  run(engines.client(), nothing().client),
);
await bare.close();
stub.kill();

const ms = (x: number): string => `${x.toFixed(1)} ms`;
/** @param of milliseconds of an iteration. */
const share = (x: number, of: number): string => `${((100 * x) / of).toFixed(1)} %`;
/** A machine that others use as well disturbs the median; least of all the fastest tenth. */
const fastest = (xs: readonly number[]): number => xs.toSorted((x, y) => x - y)[Math.floor(xs.length / 10)]!;
const rows = [median, fastest].flatMap((of) => {
  const whole = of(taken.client.wall);
  const line = (what: string, key: keyof Taken): string => {
    const [client, empty, none] = [of(taken.client[key]), of(taken.calls[key]), of(taken.timers[key])];
    const more = [client - empty, client - none].map((x) => `${ms(x)}, ${share(x, whole)}`);
    return `| ${[what, ms(client), ms(empty), ms(none), ...more].join(" | ")} |`;
  };
  const name = of === median ? "median" : "fastest tenth";
  return [line(`time, ${name}`, "wall"), line(`processor time of the process, ${name}`, "cpu")];
});
const disturbed =
  load > cpus().length
    ? [
        "",
        "Other work kept this machine busier than it has cores: the times by the clock tell of that, and not of the client.",
      ]
    : [];
/** Of the process's time, and of an iteration. */
const inRoom = (x: number): string =>
  `${(100 * x).toFixed(0)} % (${share(x * median(taken.client.cpu), median(taken.client.wall))} of the iteration)`;
const text = [
  "# What the Tinker client adds to an iteration",
  "",
  `Whole runs of GRPO: ${samples} episodes in groups of ${groupSize}, ${tokens} tokens each after ${codec.open([{ role: "user", content: question }]).length}, one step an iteration, the run's log and store included. Every call is answered after ${latency} ms by a stub that computes nothing. In turn with the same runs on two engines without the client, which wait for as many answers one after the other as the protocol forces: ${chain} (${answers.sampler} for a sampler, ${answers.sample} for samples, ${answers.forward} for a forward pass, ${answers.backwardAndStep} for a backward pass and the step behind it). One waits for calls of the same stub that say nothing, the other for timers. ${taken.client.wall.length} iterations of each, in ${rounds} rounds; ${cpus()[0]?.model}, ${cpus().length} cores, load ${load.toFixed(1)} when it began; Node ${process.version}.`,
  "",
  "| an iteration | with the client | empty calls | timers | the client's: more than empty calls, of the iteration | more than timers, of the iteration |",
  "|---|---|---|---|---|---|",
  ...rows,
  "",
  `What is more than timers holds the client and what any call takes here: sockets, Node's streams, the stub, of which empty calls take their part ${chain} times. About ${Math.round(asked / rounds / (iterations + leftOut))} calls an iteration. The aim is 2 % of the iteration.`,
  "",
  `By a profile of one more run with the client, ${inRoom(ownShare)} of the processor time is in the files of src/engine/tinker and ${inRoom(undiciShare)} in undici, which carries the calls; the rest is the loop's, and that of Node's sockets and streams.`,
  ...disturbed,
  "",
].join("\n");
writeFileSync(values.out, text);
process.stdout.write(text);
