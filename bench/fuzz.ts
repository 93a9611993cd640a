// Malformed requests to every endpoint of `whetstone serve`, which has to survive them.
//
//     node bench/fuzz.ts --requests 100000 [--store postgres] [--seed 1] [--from 4711]
//
// The server is the real command in a process of its own. Writes its store's part of bench/results/fuzz.md; ends with 1 where
// anything is amiss.
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import { openStore } from "../src/store/index.ts";
import { startPostgres } from "../test/store/postgres.ts";
import { type FuzzResult, fuzz } from "./fuzz/fuzz.ts";
import { started } from "./gateway/started.ts";
import { keepSection, progress } from "./report.ts";

const { values } = parseArgs({
  options: {
    requests: { type: "string", default: "100000" },
    seed: { type: "string", default: "1" },
    from: { type: "string", default: "0" },
    store: { type: "string", default: "sqlite" },
    out: { type: "string", default: join(import.meta.dirname, "results", "fuzz.md") },
  },
});
const [requests, seed, from] = [Number(values.requests), Number(values.seed), Number(values.from)];
const folder = mkdtempSync(join(tmpdir(), "whetstone-fuzz-"));
const database = values.store === "postgres" ? await startPostgres() : undefined;
if (typeof database === "string") throw new Error(database);
const store = (await database?.database()) ?? join(folder, "fuzz.sqlite");
const run = await aRun(store);
const upstream = await started("upstream", []);
const main = join(import.meta.dirname, "..", "src", "cli", "main.ts");
const args = ["serve", "--upstream", `${upstream.url}/v1`, "--store", store, "--port", "0", "--json"];
const server: ChildProcess = spawn(process.execPath, [main, ...args], { stdio: ["ignore", "pipe", "pipe"] });
const log: string[] = [];
createInterface({ input: server.stderr! }).on("line", (line) => log.push(line));
let exited: string | undefined;
server.once("exit", (code, signal) => {
  exited = `exit ${code ?? signal}`;
});

const url = await new Promise<string>((resolve, reject) => {
  createInterface({ input: server.stdout! }).once("line", (line) => resolve(JSON.parse(line).url));
  server.once("exit", () => reject(new Error(log.join("\n"))));
});

/** A run for the dashboard to show. */
async function aRun(where: string): Promise<string> {
  const runs = await openStore(where);
  const about = { env: "facts", method: "grpo", engine: "tabular", seed: 1, config: {} };
  await runs.startRun({ id: "run", name: "run", folder: join(folder, "run"), ...about });
  for (let k = 0; k < 20; k++)
    await runs.saveIteration("run", k, { metrics: { success: k / 20 }, trajectories: [] });
  await runs.close();
  return "run";
}

/** Resident memory of the server, MiB. */
function memory(): number {
  const status = readFileSync(`/proc/${server.pid}/status`, "utf8");
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? Number.NaN) / 1024;
}

const marks: { readonly done: number; readonly mib: number }[] = [];
const began = performance.now();
const every = Math.max(1, Math.floor(requests / 10));
const result = await fuzz({
  port: Number(new URL(url).port),
  requests,
  seed,
  from,
  run,
  progress: (done) => {
    if (done % every !== 0 || exited !== undefined) return;
    marks.push({ done, mib: memory() });
    progress(`${done} of ${requests}, ${marks.at(-1)?.mib.toFixed(0)} MiB`);
  },
});
const seconds = (performance.now() - began) / 1000;
const died = exited;
server.kill("SIGTERM");
if (exited === undefined) await new Promise((resolve) => server.once("exit", resolve));
await upstream.stop();
await database?.stop();
rmSync(folder, { recursive: true });

/** Of a 500 there has to be a line that says why. */
const logged = log.filter((line) => /^(GET|POST|DELETE|PUT|PATCH|HEAD|OPTIONS) \S+: /.test(line));
const text = section(result);
keepSection(values.out, "# Malformed requests", text);
console.log(text);
/** Milliseconds; answers that take longer are amiss. */
const tooSlow = 5000;
const slow = result.slowest.filter(({ ms }) => ms > tooSlow).map(({ what }) => what);
const amiss = [...result.hangs, ...result.failures, ...result.wronged, ...slow];
for (const line of [...amiss.slice(0, 20), ...logged.slice(0, 20)]) console.log(line);
process.exitCode = died === undefined && amiss.length === 0 ? 0 : 1;

function section({ answers, hangs, failures, slowest, good, wronged }: FuzzResult): string {
  const rows = [...answers].map(([what, counts]) => {
    const total = [...counts.values()].reduce((a, b) => a + b, 0);
    const each = [...counts].sort(([a], [b]) => a.localeCompare(b)).map(([status, n]) => `${status}: ${n}`);
    return `| ${what} | ${total} | ${each.join(", ")} |`;
  });
  return [
    `## ${database ? "PostgreSQL" : "SQLite"}`,
    "",
    `\`node bench/fuzz.ts --requests ${requests} --store ${values.store} --seed ${seed}\`, ${new Date().toISOString().slice(0, 10)}, Node ${process.version}: ${requests} malformed requests to \`whetstone serve\` on this machine's own address in ${seconds.toFixed(0)} s, 16 at a time, each over a connection of its own.`,
    "",
    `- server: ${died === undefined ? "alive to the end" : `**died: ${died}**`}`,
    `- neither answered nor closed within 20 s: ${hangs.length}`,
    `- answers of 500 and above: ${failures.length}, reasons in the log: ${logged.length}`,
    `- slowest answers: ${slowest.map(({ ms, what }) => `${(ms / 1000).toFixed(1)} s (${what})`).join("; ")}`,
    `- good requests in between: ${good}, not answered as they should be: ${wronged.length}`,
    `- resident memory, MiB, after each tenth: ${marks.map((m) => m.mib.toFixed(0)).join(", ")}`,
    "",
    "| what was wrong | requests | answers by status |",
    "| --- | --: | --- |",
    ...rows.sort(),
    "",
    "*closed*: the connection was closed without an answer, as for a head that is none. *left*: the client went away first. *200* and *201*",
    "come where what was changed did no harm, such as an unknown header or a number that is still one.",
    "",
  ].join("\n");
}
