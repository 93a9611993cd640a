// What the tinker engine's client adds to an iteration: whole runs against a stub that answers every call after 50 ms, in
// turn with the same runs on an engine that waits as long and has no client.
//
//     node bench/tinker-client.ts [--latency 50] [--iterations 20] [--rounds 3] [--samples 32] [--tokens 64]
//
// The difference of the two is the client's, in time and in processor time of the process; what is left is the work of the
// loop, which it has with any engine. Runs of a round before the first are not counted. Writes results/tinker-client.md.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { cpus, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { Engine } from "../src/engine/engine.ts";
import { chatCodec } from "../src/engine/local/codec.ts";
import { byteTokenizer } from "../src/engine/local/tokenizer.ts";
import { tinkerEngine } from "../src/engine/tinker/index.ts";
import { defineEnvironment } from "../src/env/environment.ts";
import { grpo } from "../src/method/index.ts";
import { train } from "../src/train/run.ts";
import { median } from "./measure.ts";
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
  lexicon: () => [],
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
const none = (): Taken => ({ wall: [], cpu: [] });
let [client, without] = [none(), none()];
let before = await held();
for (let round = 0; round <= rounds; round++) {
  progress(round === 0 ? "warming up" : `round ${round} of ${rounds}`);
  if (round === 1) [client, without, before] = [none(), none(), await held()];
  await run(tinkerEngine({ url, baseModel: "stub", codec, probe: false }), client);
  await run(engineWithout(codec, latency), without);
}
const after = await held();
progress("once more, for where the processor time goes");
const places = ["src/engine/tinker", "node_modules/undici"] as const;
const [ownShare = 0, undiciShare = 0] = await sharesDuring(places, () =>
  run(tinkerEngine({ url, baseModel: "stub", codec, probe: false }), none()),
);
stub.kill();

const calls = after.calls - before.calls;
const meanHeld = (after.calls * after.ms - before.calls * before.ms) / calls;
const late = chain * (meanHeld - latency);
const ms = (x: number): string => `${x.toFixed(1)} ms`;
/** @param of milliseconds of an iteration. */
const share = (x: number, of: number): string => `${((100 * x) / of).toFixed(1)} %`;
/** A machine that others use as well disturbs the median; least of all the fastest tenth. */
const fastest = (xs: readonly number[]): number => xs.toSorted((x, y) => x - y)[Math.floor(xs.length / 10)]!;
const rows = [median, fastest].flatMap((of) => {
  const [wall, bare, cpu, bareCpu] = [client.wall, without.wall, client.cpu, without.cpu].map(of);
  const name = of === median ? "median" : "fastest tenth";
  const line = (what: string, x: number, y: number): string =>
    `| ${what}, ${name} | ${ms(x)} | ${ms(y)} | ${ms(x - y)} | ${share(x - y, wall!)} |`;
  return [
    line("time", wall!, bare!),
    line("time, less what the stub was late", wall! - late, bare!),
    line("processor time of the process", cpu!, bareCpu!),
  ];
});
const forced = chain * latency;
const added = median(client.cpu) - median(without.cpu);
const disturbed =
  load > cpus().length
    ? " Other work kept this machine busier than it has cores: the times by the clock tell of that, and not of the client."
    : "";
/** Of the process's time, and of an iteration. */
const inRoom = (x: number): string =>
  `${(100 * x).toFixed(0)} % (${share(x * median(client.cpu), median(client.wall))} of the iteration)`;
const text = [
  "# What the Tinker client adds to an iteration",
  "",
  `Whole runs of GRPO: ${samples} episodes of ${tokens} tokens after ${codec.open([{ role: "user", content: question }]).length}, each asked for by itself, one step an iteration, the run's log and store included. Every call is answered after ${latency} ms by a stub that computes nothing. In turn with the same runs on an engine without client, which waits for as many latencies after one another as the protocol forces: ${chain} (${answers.sampler} for a sampler, ${answers.sample} for samples, ${answers.forward} for a forward pass, ${answers.backwardAndStep} for a backward pass and the step behind it). ${client.wall.length} iterations of each, in ${rounds} rounds; ${cpus()[0]?.model}, ${cpus().length} cores, load ${load.toFixed(1)} when it began; Node ${process.version}.`,
  "",
  "| an iteration | with the client | without one: the loop and the latencies | the client's | of the iteration |",
  "|---|---|---|---|---|",
  ...rows,
  "",
  `By a profile of one more run with the client, ${inRoom(ownShare)} of the processor time is in the files of src/engine/tinker and ${inRoom(undiciShare)} in undici, which carries the calls; the rest of the client's is Node's sockets and streams under it.`,
  "",
  `Against the ${forced} ms that the latencies alone force, all processor time of the client is ${share(added, forced)}, that of its own files ${share(ownShare * median(client.cpu), forced)}; the aim is 2 %.${disturbed}`,
  "",
  `About ${Math.round(calls / rounds / (iterations + leftOut))} calls an iteration. The stub held each for ${ms(meanHeld)} in the mean: timers are late, and it shares the cores with the client. Of ${chain} that follow one another that is ${ms(late)}, which is not the client's, and is taken off in the rows that say so.`,
  "",
].join("\n");
writeFileSync(values.out, text);
process.stdout.write(text);
