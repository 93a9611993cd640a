// Speed and memory beside named peers; see bench/README.md.
//
//     npm run bench -- train --sizes 0.5M --rounds 5
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { Command, InvalidArgumentError } from "commander";
import { messageOf } from "../src/core/errors.ts";
import { killAll, type Surroundings } from "./contestants.ts";
import { growthBench } from "./growth.ts";
import { iterationBench } from "./iteration.ts";
import { type Case, keep, keptCases, progress, tables } from "./report.ts";
import { sampleBench } from "./sample.ts";
import { trainBench } from "./train.ts";
import { type SizeName, sizeNames, usualSizes } from "./workload.ts";

export interface BenchOptions extends Surroundings {
  readonly sizes: readonly SizeName[];
  readonly rounds: number;
  /** Names of this bench's peers. */
  readonly peers: readonly string[];
  /** A folder that goes when the benches are done. */
  readonly scratch: string;
  /** Takes what sides answer to `about`. */
  addVersions(about: { readonly versions: Readonly<Record<string, string>> }): void;
  /** Stores cases at once, so that an interrupted bench keeps what it has. */
  keep(bench: string, cases: readonly Case[]): void;
}

export interface Bench {
  /** All that it can be compared with. */
  readonly peers: readonly string[];
  run(options: BenchOptions): Promise<void>;
}

const benches = {
  train: trainBench,
  sample: sampleBench,
  iteration: iterationBench,
  growth: growthBench,
} as const satisfies Record<string, Bench>;
type BenchName = keyof typeof benches;

const listOf =
  (known: readonly string[]) =>
  (text: string): string[] => {
    const names = text.split(",").map((name) => name.trim());
    const unknown = names.find((name) => !known.includes(name));
    if (unknown !== undefined)
      throw new InvalidArgumentError(`No "${unknown}"; there are ${known.join(", ")}.`);
    return names;
  };

function count(text: string): number {
  const n = Number(text);
  if (!Number.isInteger(n) || n < 1) throw new InvalidArgumentError("Give a whole number of 1 or more.");
  return n;
}

const counts = (text: string): number[] => text.split(",").map(count);

interface Given {
  readonly sizes?: SizeName[];
  readonly rounds: number;
  readonly peers?: string[];
  readonly threads: readonly number[];
  readonly out?: string;
  readonly verbose?: true;
}

const usualThreads = 2;

/** A case on another number of threads than usual stands beside the usual one. */
const withThreads = (c: Case, threads: number): Case =>
  threads === usualThreads
    ? c
    : {
        ...c,
        key: `${c.key}/threads ${threads}`,
        what: `${c.what}, ${threads} thread${threads === 1 ? "" : "s"}`,
      };

async function run(names: readonly BenchName[], given: Given): Promise<void> {
  const scratch = mkdtempSync(join(tmpdir(), "whetstone-bench-"));
  const out = resolve(given.out ?? join(import.meta.dirname, "results"));
  process.once("exit", () => {
    killAll();
    rmSync(scratch, { recursive: true, force: true });
  });
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    process.once(signal, () => process.exit(signal === "SIGINT" ? 130 : 143));
  for (const name of names) {
    const bench: Bench = benches[name];
    const began = performance.now();
    for (const threads of given.threads) {
      const versions: Record<string, string> = {};
      await bench.run({
        ...given,
        threads,
        sizes: given.sizes ?? usualSizes,
        verbose: given.verbose ?? false,
        scratch,
        peers: bench.peers.filter((peer) => given.peers?.includes(peer) ?? true),
        addVersions: (about) => Object.assign(versions, about.versions),
        keep: (to, cases) => {
          const named = cases.map((c) => withThreads(c, threads));
          if (named.length > 0) keep(to, named, { out, threads, versions });
        },
      });
    }
    progress(`${name} done in ${Math.round((performance.now() - began) / 1000)} s`);
    console.log(`## ${name}\n\n${tables(keptCases(name, out))}`);
  }
}

const program = new Command("bench")
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2))
  .description("Speed and memory of the local engine beside named peers, measured in alternation.")
  .argument("<what>", `${Object.keys(benches).join(", ")} or all`)
  .option(
    "--sizes <names>",
    `only these model sizes: ${sizeNames.join(",")} (default: ${usualSizes.join(",")})`,
    listOf(sizeNames),
  )
  .option("--rounds <n>", "alternations; each side's median counts", count, 5)
  .option(
    "--peers <names>",
    `only these: ${[...new Set(Object.values(benches).flatMap((b) => b.peers))].join(",")}, or none`,
    listOf(["none", ...Object.values(benches).flatMap((b) => b.peers)]),
  )
  .option(
    "--threads <list>",
    "threads that each side may use, such as 1,2,4,8,16: measured one after the other",
    counts,
    [usualThreads],
  )
  .option("--out <folder>", "where results go (default: bench/results)")
  .option("--verbose", "show what the sides print on standard error")
  .addHelpText(
    "after",
    `
Examples:
  npm run bench -- train --sizes 0.5M --rounds 5
  npm run bench -- sample --peers transformers --out tried
  npm run bench -- growth --peers none
  npm run bench -- train --sizes 25M,135M --threads 1,2,4,8,16
  npm run bench -- all

The peers' Python environment is made by bench/peers/setup.sh; WHETSTONE_PEERS_PYTHON names another Python.`,
  )
  .action((what: string, given: Given) => {
    const all = Object.keys(benches) as BenchName[];
    const names = what === "all" ? all : all.filter((name) => name === what);
    if (names.length === 0)
      program.error(`no bench "${what}"; there are ${all.join(", ")} and all`, { exitCode: 2 });
    return run(names, given);
  });

try {
  await program.parseAsync();
} catch (e) {
  process.stderr.write(`bench: ${messageOf(e)}\n`);
  process.exit(1);
}
process.exit(0);
