/** One run of `whetstone train` with a pretrained model: success on held-out tasks, minutes and memory. */
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, cpus, tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import type { RunEvent } from "../../src/train/events.ts";
import { instructionSets, measuredCommit } from "../report.ts";

const root = join(import.meta.dirname, "../..");
const main = join(root, "src/cli/main.ts");

/** What is trained, in options of `whetstone train` without model, seed and folder. */
export interface Training {
  readonly options: string;
  /** What is trained before it is measured; the model is then the one that came of this. */
  readonly before?: string | undefined;
}

/** A training as a line of a page. */
export const commandLine = (name: string, { options, before }: Training): string =>
  `- ${name}: \`whetstone train ${options}\`${before === undefined ? "" : `, from the model of \`whetstone train ${before}\``}`;

/** What came of it. */
export interface Trained {
  readonly command: string;
  readonly machine: string;
  readonly date: string;
  /** Rows before 2026-11-29 have neither of these. */
  readonly instructions?: string;
  readonly commit?: string;
  /** Of training alone, and of the whole command. */
  readonly trainingMinutes: number;
  readonly minutes: number;
  readonly iterations: number;
  readonly peakGiB: number;
  /** Greedy success by held-out split. */
  readonly splits: Readonly<
    Record<string, { readonly n: number; readonly before: number; readonly after: number }>
  >;
}

/** The most memory that a process has held so far, in GiB; 0 once it has ended. */
function peakOf(pid: number): number {
  try {
    const kib = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
    return Number(kib ?? 0) / 2 ** 20;
  } catch {
    return 0;
  }
}

/** Pairs as a store, in the way of the recipe's own header. */
function importPairs(folder: string): void {
  const pairs = join(folder, "pairs.jsonl");
  writeFileSync(pairs, execFileSync(process.execPath, [join(root, "examples/real/preferences.ts")]));
  execFileSync(process.execPath, [main, "import", pairs, "--from", "trl", "--store", "runs/pairs.sqlite"], {
    cwd: folder,
  });
}

/** Arguments of `whetstone train`. */
const trainArguments = (options: string, from: string, seed: number, out: string): string[] => [
  main,
  "train",
  ...options.split(" ").map((word) => (word.startsWith("examples/") ? join(root, word) : word)),
  ...["--model", from, "--seed", `${seed}`, "--out", out, "--json"],
];

/** @throws Error if the run ends without a result. */
export async function trained(model: string, { options, before }: Training, seed: number): Promise<Trained> {
  const folder = mkdtempSync(join(tmpdir(), "whetstone-real-"));
  try {
    if (options.includes("--from-feedback")) importPairs(folder);
    const given = resolve(model);
    if (before !== undefined) {
      const args = trainArguments(before, given, seed, "runs/first");
      execFileSync(process.execPath, args, { cwd: folder, stdio: ["ignore", "ignore", "inherit"] });
    }
    const from = before === undefined ? given : "runs/first/final";
    const began = performance.now();
    const child = spawn(process.execPath, trainArguments(options, from, seed, "runs/run"), {
      cwd: folder,
      stdio: ["ignore", "pipe", "inherit"],
    });
    let peakGiB = 0;
    const watch = setInterval(() => (peakGiB = Math.max(peakGiB, peakOf(child.pid!))), 1000);
    let text = "";
    for await (const chunk of child.stdout.setEncoding("utf8")) text += chunk;
    clearInterval(watch);
    const events = text
      .trim()
      .split("\n")
      .map((line): RunEvent => JSON.parse(line));
    const done = events.find((e) => e.type === "done");
    if (done === undefined) throw new Error(`${options}, seed ${seed}, ended without a result`);
    const splits: Record<string, { n: number; before: number; after: number }> = {};
    for (const e of events) {
      if (e.type !== "evaluation" || e.mode !== "greedy" || e.when === "during") continue;
      splits[e.split] = { n: e.success.n, before: 0, after: 0, ...splits[e.split], [e.when]: e.success.mean };
    }
    const training = events.reduce((sum, e) => sum + (e.type === "iteration" ? e.seconds : 0), 0);
    return {
      command: `whetstone train ${options} --model ${before === undefined ? basename(model) : from} --seed ${seed}`,
      machine: `${cpus()[0]!.model.trim()}, ${availableParallelism()} cores`,
      date: new Date().toISOString(),
      instructions: instructionSets(),
      commit: measuredCommit(),
      trainingMinutes: training / 60,
      minutes: (performance.now() - began) / 60_000,
      iterations: done.iterations,
      peakGiB,
      splits,
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
