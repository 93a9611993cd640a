// Signals per second that are accepted durably, by one process, in this process: no HTTP.
//
//     node bench/ingest.ts --store sqlite
//     node bench/ingest.ts --store postgres --clients 64
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { fileURLToPath } from "node:url";
import { Command, Option } from "commander";
import { openTrafficStore } from "../src/store/openTrafficStore.ts";
import { recorder } from "../src/store/recorder.ts";
import { startPostgres } from "../test/store/postgres.ts";

interface Measured {
  readonly perSecond: number;
  /** Milliseconds that a signal waited. */
  readonly median: number;
  readonly p99: number;
  /** Milliseconds that the event loop was held up. */
  readonly held: number;
}

const results = fileURLToPath(new URL("results/ingest.md", import.meta.url));
const { store, clients, seconds, rounds } = new Command()
  .addOption(new Option("--store <name>", "into what").choices(["sqlite", "postgres"]).makeOptionMandatory())
  .option("--clients <n>", "each waits for its acknowledgement before it gives the next", "256")
  .option("--seconds <n>", "of a round", "3")
  .option("--rounds <n>", "of which the median counts", "5")
  .parse()
  .opts<Readonly<Record<"store" | "clients" | "seconds" | "rounds", string>>>();

async function measure(where: string): Promise<Measured> {
  const production = await openTrafficStore(where);
  const recording = recorder(production);
  const waits: number[] = [];
  const loop = monitorEventLoopDelay({ resolution: 1 });
  loop.enable();
  const until = performance.now() + 1000 * Number(seconds);
  const client = async (_: unknown, c: number): Promise<void> => {
    for (let i = 0; performance.now() < until; i++) {
      const began = performance.now();
      await recording.receive({
        id: crypto.randomUUID(),
        key: `${c}/${i}`,
        kind: "reaction",
        channel: "thumb",
        about: [{ response: `response-${c}-${i}` }],
        value: 1,
        text: "thumbs_up",
        source: "user",
        user: `user-${c}`,
        at: Date.now(),
        received: Date.now(),
        tags: {},
      });
      waits.push(performance.now() - began);
    }
  };
  await Promise.all(Array.from({ length: Number(clients) }, client));
  loop.disable();
  await production.close();
  waits.sort((a, b) => a - b);
  const at = (share: number): number => waits[Math.floor(share * (waits.length - 1))] ?? Number.NaN;
  return {
    perSecond: waits.length / Number(seconds),
    median: at(0.5),
    p99: at(0.99),
    held: loop.percentile(99) / 1e6,
  };
}

const folder = mkdtempSync(join(tmpdir(), "whetstone-ingest-"));
const server = store === "postgres" ? await startPostgres() : undefined;
if (typeof server === "string") throw new Error(server);
const all: Measured[] = [];
try {
  for (let round = 0; round < Number(rounds); round++) {
    all.push(await measure(server ? await server.database() : join(folder, `${round}.sqlite`)));
    console.error(`round ${round + 1} of ${rounds}: ${Math.round(all.at(-1)!.perSecond)} signals/s`);
  }
} finally {
  await server?.stop();
  rmSync(folder, { recursive: true, force: true });
}

const median = (of: (m: Measured) => number): string =>
  all
    .map(of)
    .sort((a, b) => a - b)
    [all.length >> 1]!.toLocaleString("en", { maximumFractionDigits: of(all[0]!) < 100 ? 1 : 0 });
const name = server ? "PostgreSQL" : "SQLite";
const row = `| ${name} | ${clients} | ${median((m) => m.perSecond)} | ${median((m) => m.median)} | ${median((m) => m.p99)} | ${median((m) => m.held)} |`;
const head = `# Ingest

Written by \`node bench/ingest.ts\`: signals that one process accepts durably, each client waiting for its
acknowledgement before it gives the next; the median of ${rounds} rounds of ${seconds} s, on ${cpus()[0]?.model.trim()}, ${cpus().length} cores.

| store | clients | signals/s | wait, median ms | wait, p99 ms | event loop held up, p99 ms |
| --- | --: | --: | --: | --: | --: |
`;
const old = existsSync(results) ? readFileSync(results, "utf8").split("\n") : [];
const others = old.filter(
  (line) => /^\| (SQLite|PostgreSQL)/.test(line) && !line.startsWith(`| ${name} | ${clients} |`),
);
writeFileSync(results, `${head}${[...others, row].sort().reverse().join("\n")}\n`);
console.log(row);
