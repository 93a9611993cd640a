// What is acknowledged is on disk: writers and servers killed at random moments under load, and a trace of system calls.
//
//     node bench/durability.ts --rounds 200 --store sqlite
//     node bench/durability.ts --rounds 200 --store postgres
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Command, Option } from "commander";
import { randomStream } from "../src/core/random.ts";
import { startPostgres } from "../test/store/postgres.ts";
import { type KillRounds, killRounds } from "./durability/rounds.ts";
import { type Syncs, traceSyncs } from "./durability/syncs.ts";
import { keepSection } from "./report.ts";

interface Options {
  readonly rounds: string;
  readonly store: "sqlite" | "postgres";
  readonly seed: string;
}

const results = fileURLToPath(new URL("results/durability.md", import.meta.url));
const { rounds, store, seed } = new Command()
  .requiredOption("--rounds <n>", "kills")
  .addOption(new Option("--store <name>", "of what").choices(["sqlite", "postgres"]).makeOptionMandatory())
  .option("--seed <n>", "of the moments", "1")
  .parse()
  .opts<Options>();

const folder = mkdtempSync(join(tmpdir(), "whetstone-durability-"));
const server = store === "postgres" ? await startPostgres() : undefined;
if (typeof server === "string") throw new Error(server);
try {
  const began = performance.now();
  const where = server ? await server.database() : join(folder, "store.sqlite");
  const crash = server?.folder === undefined ? {} : { crash: { every: 5, run: () => server.crash() } };
  const killed = await killRounds({
    where,
    rounds: Number(rounds),
    random: randomStream(Number(seed)),
    ...crash,
    onRound: (round) => {
      if (round % 10 === 0) console.error(`${round} of ${rounds} rounds`);
    },
  });
  const seconds = (performance.now() - began) / 1000;
  const pid = server?.pid();
  const syncs = await traced({
    where: server ? await server.database() : join(folder, "traced.sqlite"),
    folder,
    bursts: 50,
    size: 20,
    log: server ? /pg_wal/ : /-wal>/,
    ...(pid !== undefined && { server: pid }),
  });
  const text = section(killed, seconds, syncs);
  keepSection(results, "# Durability\n\nWritten by `node bench/durability.ts`.", text);
  console.log(text);
  process.exitCode = killed.lost + killed.doubled + (syncs?.bare ?? 0) === 0 ? 0 : 1;
} finally {
  await server?.stop();
  rmSync(folder, { recursive: true, force: true });
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
