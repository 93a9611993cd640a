// What is acknowledged is on disk: writers and servers killed at random moments under load, and a trace of system calls.
//
//     node bench/durability.ts --rounds 200 --store sqlite
//     node bench/durability.ts --rounds 200 --store postgres
//     node bench/durability.ts --rounds 40 --store sqlite --full-core
//
// With --full-core a gateway is killed that is asked as much as its one core can answer, in every second round beside a process
// that wants all of that core too: what had been answered is compared with what is recorded. Needs two cores and taskset.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Command, Option } from "commander";
import { randomStream } from "../src/core/random.ts";
import { type Server, startPostgres } from "../test/store/postgres.ts";
import { type FullCore, fullCore } from "./durability/fullCore.ts";
import { type KillRounds, killRounds } from "./durability/rounds.ts";
import { type Syncs, traceSyncs } from "./durability/syncs.ts";
import { quantile } from "./gateway/load.ts";
import { keepSection } from "./report.ts";

interface Options {
  readonly rounds: string;
  readonly store: "sqlite" | "postgres";
  readonly seed: string;
  readonly fullCore?: true;
  readonly out: string;
}

/** Milliseconds. */
const mostAtRisk = 100;
const {
  rounds,
  store,
  seed,
  fullCore: full,
  out: results,
} = new Command()
  .requiredOption("--rounds <n>", "kills")
  .addOption(new Option("--store <name>", "of what").choices(["sqlite", "postgres"]).makeOptionMandatory())
  .option("--seed <n>", "of the moments", "1")
  .option("--out <file>", "page", fileURLToPath(new URL("results/durability.md", import.meta.url)))
  .option("--full-core", "a gateway whose one core is full")
  .parse()
  .opts<Options>();

const head = "# Durability\n\nWritten by `node bench/durability.ts`.";
const random = randomStream(Number(seed));
const onRound = (round: number): void => {
  if (round % 10 === 0) console.error(`${round} of ${rounds} rounds`);
};

const folder = mkdtempSync(join(tmpdir(), "whetstone-durability-"));
const server = store === "postgres" ? await startPostgres() : undefined;
if (typeof server === "string") throw new Error(server);
try {
  const where = server ? await server.database() : join(folder, "store.sqlite");
  await (full ? onFullCore(where) : onAnyMachine(where, server));
} finally {
  await server?.stop();
  rmSync(folder, { recursive: true, force: true });
}

async function onAnyMachine(where: string, database: Server | undefined): Promise<void> {
  const began = performance.now();
  const crash = database?.folder === undefined ? {} : { crash: { every: 5, run: () => database.crash() } };
  const killed = await killRounds({ where, rounds: Number(rounds), random, ...crash, onRound });
  const seconds = (performance.now() - began) / 1000;
  const pid = database?.pid();
  const syncs = await traced({
    where: database ? await database.database() : join(folder, "traced.sqlite"),
    folder,
    bursts: 50,
    size: 20,
    log: database ? /pg_wal/ : /-wal>/,
    ...(pid !== undefined && { server: pid }),
  });
  const text = section(killed, seconds, syncs);
  keepSection(results, head, text);
  console.log(text);
  process.exitCode = killed.lost + killed.doubled + (syncs?.bare ?? 0) === 0 ? 0 : 1;
}

async function onFullCore(where: string): Promise<void> {
  execFileSync("taskset", ["-acp", "1", `${process.pid}`]);
  const half = Math.ceil(Number(rounds) / 2);
  const alone = await fullCore({ where, rounds: half, random, neighbour: false, onRound });
  const beside = await fullCore({ where, rounds: half, random, neighbour: true, onRound });
  const text = fullCoreSection(alone, beside);
  keepSection(results, head, text);
  console.log(text);
  process.exitCode = Math.max(...alone.oldest) <= mostAtRisk ? 0 : 1;
}

/** Nothing where there is no strace. */
async function traced(options: Parameters<typeof traceSyncs>[0]): Promise<Syncs | undefined> {
  try {
    execFileSync("strace", ["-V"], { stdio: "ignore" });
  } catch {
    return undefined;
  }
  return await traceSyncs(options);
}

function section(k: KillRounds, seconds: number, s: Syncs | undefined): string {
  const name = store === "sqlite" ? "SQLite" : "PostgreSQL";
  const n = (x: number): string => x.toLocaleString("en");
  return [
    `## ${name}`,
    "",
    `${n(k.rounds)} rounds in ${Math.round(seconds)} s, ${cpus().length} cores, Node ${process.versions.node}: a process under load is killed with SIGKILL at a random moment${store === "postgres" ? ", in every fifth round the server and its children before it" : ""}. What was not acknowledged is sent again.`,
    "",
    "| | |",
    "| --- | --: |",
    `| signals sent | ${n(k.signals)} |`,
    `| acknowledged | ${n(k.acknowledged)} |`,
    `| acknowledged and lost | **${n(k.lost)}** |`,
    `| there twice | **${n(k.doubled)}** |`,
    `| sent again after a kill | ${n(k.sentAgain)} |`,
    `| of these, written all the same and known by their keys | ${n(k.knownByKey)} |`,
    `| traffic taken, not acknowledged | ${n(k.taken)} |`,
    `| lost of it by kills | ${n(k.trafficLost)} |`,
    `| oldest of that, before the kill${store === "postgres" ? " (where the server stood)" : ""} | ${Math.round(k.oldestLost)} ms |`,
    "",
    s === undefined
      ? "No strace here: system calls were not traced."
      : `System calls (strace): ${n(s.acknowledgements)} acknowledgements in ${n(s.bursts)} bursts, ${n(s.flushes)} flushes of the log by fsync or fdatasync; bursts acknowledged without one before: **${n(s.bare)}**.`,
    "",
  ].join("\n");
}

function fullCoreSection(alone: FullCore, beside: FullCore): string {
  const name = store === "sqlite" ? "SQLite" : "PostgreSQL";
  const row = (what: string, of: (f: FullCore) => string): string =>
    `| ${what} | ${of(alone)} | ${of(beside)} |`;
  const whole = (x: number): string => Math.round(x).toLocaleString("en");
  return [
    `## ${name}, on one core that is full`,
    "",
    `${cpus().length} cores, Node ${process.versions.node}: a gateway on one core, asked as much as it can answer by clients on the other, is killed with SIGKILL at a random moment; what had been answered is compared with what is recorded.`,
    "",
    "| | alone | beside a process that wants all of the core |",
    "| --- | --: | --: |",
    row("rounds", (f) => whole(f.rounds)),
    row("answers", (f) => whole(f.answered)),
    row("answers a second", (f) => whole(f.perSecond)),
    row("answered and not recorded", (f) => whole(f.lost)),
    row(
      "oldest of that before the kill, median of the rounds",
      (f) => `${whole(quantile(f.oldest, 0.5))} ms`,
    ),
    row("oldest of that before the kill, of all rounds", (f) => `**${whole(Math.max(...f.oldest))} ms**`),
    "",
  ].join("\n");
}
