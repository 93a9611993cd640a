// A published model of ordinary size through the whole of its way: runs that are killed, long runs, and exported files in llama.cpp.
//
//     node bench/pretrained.ts kills --model SmolLM2-135M-Instruct.Q4_1.gguf
//     node bench/pretrained.ts long --model SmolLM2-135M-Instruct.Q4_1.gguf --iterations 100
//     node bench/pretrained.ts export --run runs/extract --env examples/real/extract.ts
//
// What a part found replaces its section of bench/results/pretrained.md. The last part needs llama.cpp, as bench/README.md installs it.
import { mkdtempSync, rmSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { Command } from "commander";
import { randomStream } from "../src/core/random.ts";
import { exportSection } from "./pretrained/exported.ts";
import { digestOf, type Ended, type Kill, type Reported, train } from "./pretrained/runs.ts";
import { keepSection, progress } from "./report.ts";

const head =
  "# A published model, from its file to a trained one\n\nWritten by `node bench/pretrained.ts`, a section for each part.";
const page = fileURLToPath(new URL("results/pretrained.md", import.meta.url));
const machine = `${cpus().length} cores, Node ${process.versions.node}`;

/** Runs a part in a folder that is gone afterwards, and keeps its section. @returns whether all is as it must be. */
async function keep(part: (folder: string) => Promise<{ section: string; passed: boolean }>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "whetstone-pretrained-"));
  try {
    const { section, passed } = await part(folder);
    keepSection(page, head, section);
    console.log(section);
    process.exitCode = passed ? 0 : 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

interface RunOptions {
  readonly model: string;
  readonly iterations: string;
  readonly threads: string;
  readonly seed: string;
}

const flagsOf = ({ model, iterations, threads }: RunOptions): readonly string[] => [
  ...["--model", resolve(model), "--iterations", iterations, "--threads", threads],
];

/** @throws with what a run said that should have ended well. */
function requireEnd(name: string, { code, err }: Ended): void {
  if (code !== 0) throw new Error(`${name} ended with ${code}:\n${err}`);
}

const largest = (iterations: readonly Reported[], metric: string): string =>
  Math.max(...iterations.map(({ metrics }) => metrics[metric] ?? 0)).toExponential(1);

/**
 * Five kills, of which the second and the fourth come while a checkpoint is written.
 * @param ms of an iteration: the moment lies anywhere within the next one.
 */
function killsOf(seed: number, ms: number): readonly Kill[] {
  const random = randomStream(seed);
  return Array.from({ length: 5 }, (_, i) =>
    i % 2 === 1
      ? { at: "checkpoint", after: random.below(2), ms: Math.floor(0.1 * ms * random.next()) }
      : { at: "iteration", after: 0, ms: Math.floor(ms * random.next()) },
  );
}

async function kills(folder: string, options: RunOptions): Promise<{ section: string; passed: boolean }> {
  const flags = flagsOf(options);
  const calm = await train(folder, "calm", flags);
  requireEnd("the undisturbed run", calm);
  progress(`undisturbed: ${calm.seconds.toFixed(0)} s`);
  const rows: string[] = [];
  const played: Reported[] = [];
  const each = (1000 * calm.seconds) / calm.iterations.length;
  for (const [i, kill] of killsOf(Number(options.seed), each).entries()) {
    const more = ["--checkpoint-seconds", "0", ...(i > 0 ? ["--resume"] : [])];
    const { code, err, iterations } = await train(folder, "killed", [...flags, ...more], kill);
    if (code !== null) throw new Error(`the process ended by itself with ${code}:\n${err}`);
    played.push(...iterations);
    const reached = iterations.at(-1)?.iteration;
    rows.push(
      `| ${i + 1} | ${kill.ms} ms after ${kill.at === "iteration" ? "an iteration" : "a checkpoint was begun"} | ${reached ?? "none"} |`,
    );
    progress(rows.at(-1)!);
  }
  const last = await train(folder, "killed", [...flags, "--checkpoint-seconds", "0", "--resume"]);
  requireEnd("the run that had been killed", last);
  played.push(...last.iterations);
  const same = digestOf(folder, "calm") === digestOf(folder, "killed");
  const speeds = (of: readonly Reported[]): string => {
    // an iteration whose replies all came from before a kill sampled none
    const told = of.flatMap(({ tokensPerSecond: x }) => (x > 0 ? [x] : [])).sort((a, b) => a - b);
    return `${told[0]!.toFixed(0)} to ${told.at(-1)!.toFixed(0)}`;
  };
  const section = [
    "## Killed and resumed",
    "",
    `${basename(options.model)}, LoRA of rank 8, GRPO on 13 words for numbers, 2 tasks × 4 replies of at most 16 tokens, ${options.iterations} iterations; ${machine}. The process is killed with SIGKILL five times and resumed; its weights at the end are ${same ? "**those of the run that nobody killed, bit by bit**" : "**others**"}.`,
    "",
    "| kill | when | last iteration reported before it |",
    "| --- | --- | --- |",
    ...rows,
    "",
    "| | undisturbed | killed |",
    "| --- | --- | --- |",
    `| iterations reported | ${calm.iterations.length} | ${played.length} |`,
    `| tokens a second, slowest and fastest iteration | ${speeds(calm.iterations)} | ${speeds(played)} |`,
    `| largest gap of sampling against training, nats | ${largest(calm.iterations, "logpGap")} | ${largest(played, "logpGap")} |`,
    "",
  ].join("\n");
  return { section, passed: same };
}

async function long(folder: string, options: RunOptions): Promise<{ section: string; passed: boolean }> {
  const ended = await train(folder, "long", flagsOf(options));
  requireEnd("the run", ended);
  const { iterations, seconds, peak } = ended;
  const successOf = (of: readonly Reported[]): string =>
    `${Math.round((100 * of.reduce((sum, { success }) => sum + success, 0)) / of.length)} %`;
  const section = [
    "## A long run",
    "",
    `${basename(options.model)}, LoRA of rank 8, GRPO on 13 words for numbers, 2 tasks × 4 replies of at most 16 tokens; ${machine}.`,
    "",
    "| | |",
    "| --- | --: |",
    `| iterations | ${iterations.length} |`,
    `| seconds | ${seconds.toFixed(0)} |`,
    `| largest resident memory | ${(peak / 1024).toFixed(1)} GiB |`,
    `| success in training, first and last ten iterations | ${successOf(iterations.slice(0, 10))}, ${successOf(iterations.slice(-10))} |`,
    `| gap of sampling against training, largest of any token | ${largest(iterations, "logpGap")} nats |`,
    `| the same, largest mean of an iteration | ${largest(iterations, "logpGap.mean")} nats |`,
    "",
  ].join("\n");
  return { section, passed: iterations.length === Number(options.iterations) };
}

const program = new Command();
const addRun = (name: string, iterations: string, part: typeof kills): void => {
  program
    .command(name)
    .requiredOption("--model <file>", "a GGUF file, or a folder")
    .option("--iterations <n>", "of a run", iterations)
    .option("--threads <n>", "of the engine", "2")
    .option("--seed <n>", "of the moments", "1")
    .action((options: RunOptions) => keep((folder) => part(folder, options)));
};
addRun("kills", "12", kills);
addRun("long", "100", long);
program
  .command("export")
  .requiredOption("--run <folder>", "a run of a LoRA adapter, whose exports are compared")
  .requiredOption("--env <module>", "whose held-out tasks are answered")
  .option("--tasks <n>", "of these", "40")
  .option("--threads <n>", "of each side", "2")
  .action((options: { run: string; env: string; tasks: string; threads: string }) =>
    keep((folder) => exportSection(folder, options, machine)),
  );
await program.parseAsync();
