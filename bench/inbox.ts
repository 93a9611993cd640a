// Signals a second that the inbox acknowledges, each on disk before it is: over HTTP, by one server process.
//
//     node bench/inbox.ts --seconds 10 --rounds 3
//
// Writes bench/results/inbox.md. What was acknowledged is counted again in the store afterwards.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { cpus, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Pool } from "undici";
import { singleCoreFlags } from "../src/cli/threadPriority.ts";
import { median } from "../src/common/statistics/statistics.ts";
import { openTrafficStore } from "../src/store/openTrafficStore.ts";
import { quantile } from "./gateway/load.ts";
import { type Started, started } from "./gateway/started.ts";
import { progress } from "./report.ts";

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "10" },
    rounds: { type: "string", default: "3" },
    out: { type: "string", default: join(import.meta.dirname, "results", "inbox.md") },
  },
});
const [seconds, rounds] = [Number(values.seconds), Number(values.rounds)];
const pinned = cpus().length > 1;

/** Signals in a request, and requests under way at once. */
const cases = [
  { list: 1, requests: 256 },
  { list: 1, requests: 1024 },
  { list: 10, requests: 64 },
  { list: 100, requests: 16 },
  { list: 1000, requests: 4 },
] as const;
type Case = (typeof cases)[number];

interface Round {
  readonly perSecond: number;
  /** Until a request is acknowledged, milliseconds. */
  readonly waits: readonly number[];
  /** Of the server's process: microseconds a signal. */
  readonly cpuUs: number;
  readonly acknowledged: number;
}

const signal = (n: number) => ({
  kind: "reaction",
  response: `chatcmpl-${n % 5000}`,
  reaction: n % 3 === 0 ? "thumbs_down" : "thumbs_up",
  user: `user-${n % 700}`,
  key: `${process.pid}-${n}`,
});
let made = 0;

function bodyOf(list: number): string {
  if (list === 1) return JSON.stringify(signal(made++));
  return JSON.stringify(Array.from({ length: list }, () => signal(made++)));
}

async function round(server: Started, { list, requests }: Case): Promise<Round> {
  const pool = new Pool(server.url, { connections: requests, pipelining: 1 });
  const waits: number[] = [];
  let acknowledged = 0;
  const until = performance.now() + 1000 * seconds;
  const before = await server.usage();
  const began = performance.now();
  await Promise.all(
    Array.from({ length: requests }, async () => {
      while (performance.now() < until) {
        const body = bodyOf(list);
        const asked = performance.now();
        const answer = await pool.request({
          method: "POST",
          path: "/v1/feedback",
          headers: { "content-type": "application/json" },
          body,
        });
        const said = await answer.body.text();
        if (answer.statusCode !== 201) throw new Error(`${answer.statusCode}: ${said}`);
        waits.push(performance.now() - asked);
        acknowledged += list;
      }
    }),
  );
  const took = (performance.now() - began) / 1000;
  const after = await server.usage();
  await pool.close();
  const cpuUs = (1000 * (after.cpuMs - before.cpuMs)) / acknowledged;
  return { perSecond: acknowledged / took, waits, cpuUs, acknowledged };
}

async function stored(file: string): Promise<number> {
  const production = await openTrafficStore(file);
  let count = 0;
  for await (const _ of production.signals()) count++;
  await production.close();
  return count;
}

const [load = 0] = loadavg();
const folder = mkdtempSync(join(tmpdir(), "whetstone-inbox-"));
const rows: string[] = [];
let [acknowledged, kept] = [0, 0];
try {
  for (const one of cases) {
    const { list, requests } = one;
    const file = join(folder, `${list}-${requests}.sqlite`);
    const server = await started("served", ["http://127.0.0.1:9", file], {
      flags: singleCoreFlags,
      ...(pinned && { core: 0 }),
    });
    const measured: Round[] = [];
    for (let r = 0; r < rounds; r++) {
      measured.push(await round(server, one));
      progress(`${requests} × ${list}: ${measured.at(-1)?.perSecond.toFixed(0)} signals a second`);
    }
    await server.stop();
    acknowledged += measured.reduce((sum, m) => sum + m.acknowledged, 0);
    kept += await stored(file);
    const rates = measured.map((m) => m.perSecond);
    const waits = measured.flatMap((m) => m.waits);
    const [p50, p99] = [0.5, 0.99].map((q) => quantile(waits, q).toFixed(0));
    const spread = `${Math.min(...rates).toFixed(0)} to ${Math.max(...rates).toFixed(0)}`;
    const cpu = median(measured.map((m) => m.cpuUs)).toFixed(0);
    rows.push(
      `| ${list} | ${requests} | **${median(rates).toFixed(0)}** | ${spread} | ${p50} | ${p99} | ${cpu} |`,
    );
  }
} finally {
  rmSync(folder, { recursive: true });
}
const machine = `${cpus().length} × ${cpus()[0]?.model.trim()}, Node ${process.version}`;
const text = [
  "# Signals a second",
  "",
  `\`node bench/inbox.ts --seconds ${seconds} --rounds ${rounds}\`, ${new Date().toISOString().slice(0, 10)}, ${machine}. Reactions sent to \`POST /v1/feedback\`, acknowledged once they are on disk (SQLite, \`synchronous=FULL\`); one server process${pinned ? " on one core, the client on the rest" : ""}. Median of ${rounds} rounds of ${seconds} s.`,
  "",
  "| signals a request | requests at once | signals/s | rounds | p50, ms | p99, ms | server CPU a signal, µs |",
  "| --: | --: | --: | --- | --: | --: | --: |",
  ...rows,
  "",
  `Processes that wanted a core before it began: ${load.toFixed(1)}.`,
  "",
  `${acknowledged} signals were acknowledged; ${kept} were found in the stores afterwards.`,
  "",
].join("\n");
writeFileSync(values.out, text);
console.log(text);
process.exitCode = acknowledged === kept ? 0 : 1;
