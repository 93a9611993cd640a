// What the gateway adds to a call: the same requests to an upstream directly and through the gateway, side by side.
//
//     node bench/gateway.ts --rate 500 --seconds 60 [--clients]
//
// Gateway and upstream are processes of their own on this machine; where it has two cores, the gateway has the first to itself,
// and upstream and clients the second. All begin as `whetstone serve` does on one core: pauses of the clients are none of the
// gateway's.
// Writes bench/results/gateway.md.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { Agent as NodeAgent, request as nodeRequest } from "node:http";
import { cpus, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { request } from "undici";
import { compileInBackground, singleCoreFlags } from "../src/cli/threadPriority.ts";
import { median } from "../src/common/statistics/statistics.ts";
import { call, quantile, steadily, type Target, target, timed } from "./gateway/load.ts";
import { started } from "./gateway/started.ts";
import { progress } from "./report.ts";

const { values } = parseArgs({
  options: {
    rate: { type: "string", default: "500" },
    seconds: { type: "string", default: "60" },
    rounds: { type: "string", default: "5" },
    clients: { type: "boolean", default: false },
    out: { type: "string", default: join(import.meta.dirname, "results", "gateway.md") },
  },
});
const [rate, seconds, rounds] = [Number(values.rate), Number(values.seconds), Number(values.rounds)];
const busy = loadavg()[0]!;
const pinned = cpus().length > 1;
if (process.platform === "linux") {
  const missing = singleCoreFlags.filter((flag) => !process.execArgv.includes(flag));
  if (missing.length > 0)
    process.execve?.(process.execPath, [process.execPath, ...missing, ...process.argv.slice(1)]);
  if (pinned) execFileSync("taskset", ["-acp", "1", `${process.pid}`]);
  compileInBackground();
}
const folder = mkdtempSync(join(tmpdir(), "gateway-"));
const upstream = await started("upstream", [], { flags: singleCoreFlags, ...(pinned && { core: 1 }) });

interface Measured {
  readonly direct: readonly number[];
  readonly through: readonly number[];
  /** Of the gateway's process, milliseconds per call. */
  readonly cpuMs: number;
  readonly lost: number;
  /** Calls without an answer, of either kind. */
  readonly failed: number;
}

/** Every call is made twice, half an interval apart: once directly, once through the gateway. */
async function measure(stream: boolean): Promise<Measured> {
  const gateway = await started("served", [upstream.url, join(folder, `${stream}.sqlite`)], {
    flags: singleCoreFlags,
    ...(pinned && { core: 0 }),
  });
  const [directly, by] = [target(upstream.url), target(gateway.url)];
  const direct: number[] = [];
  const through: number[] = [];
  const running = new Set<Promise<unknown>>();
  const send = (to: Target, into: number[], n: number): void => {
    const { body, session } = call(n, stream, 500);
    const done = timed(to, body, session).then((ms) => (ms === undefined ? failed++ : into.push(ms)));
    running.add(done);
    void done.finally(() => running.delete(done));
  };
  let failed = 0;
  const warm: number[] = [];
  // until what runs often is compiled
  await steadily(2 * rate, 10, (n) => send(n % 2 === 0 ? directly : by, warm, 1e6 + (n >> 1)));
  await Promise.all(running);
  const before = await gateway.usage();
  // even numbers directly, odd ones through the gateway: what disturbs the machine disturbs both
  await steadily(2 * rate, seconds, (n) => {
    if (n % 2 === 0) send(directly, direct, n / 2);
    else send(by, through, (n - 1) / 2);
  });
  await Promise.all(running);
  const after = await gateway.usage();
  await Promise.all([directly.agent.close(), by.agent.close()]);
  await gateway.stop();
  return {
    direct,
    through,
    cpuMs: (after.cpuMs - before.cpuMs) / through.length,
    lost: after.lost,
    failed,
  };
}

/** Quantiles of each round's share of the calls, in order of their ends; the median round counts. */
function byRound(xs: readonly number[], q: number): number {
  const size = Math.floor(xs.length / rounds);
  return median(Array.from({ length: rounds }, (_, r) => quantile(xs.slice(r * size, (r + 1) * size), q)));
}

const ms = (x: number): string => x.toFixed(2);
function rows(what: string, { direct, through, cpuMs, lost, failed }: Measured): string[] {
  return [0.5, 0.9, 0.99].map((q) => {
    const [d, t] = [byRound(direct, q), byRound(through, q)];
    const all = ms(quantile(through, q) - quantile(direct, q));
    const more = q === 0.5 ? `${ms(cpuMs)} ms; ${failed} calls failed, ${lost} records lost` : "";
    return `| ${what} | p${100 * q} | ${ms(d)} | ${ms(t)} | **${ms(t - d)}** | ${all} | ${more} |`;
  });
}

/** What one request costs this process by each client: CPU microseconds, at 16 requests at a time. */
async function clients(): Promise<string[]> {
  const { body, session } = call(0, false, 1);
  const to = target(upstream.url);
  const url = `${upstream.url}/v1/chat/completions`;
  const headers = { "content-type": "application/json", "x-whetstone-session": session };
  const agent = new NodeAgent({ keepAlive: true, maxSockets: 128 });
  const ways: Readonly<Record<string, () => Promise<unknown>>> = {
    "undici request": async () => {
      const answer = await request(url, { dispatcher: to.agent, method: "POST", headers, body });
      for await (const _ of answer.body);
    },
    "node:http": () =>
      new Promise((resolve, reject) => {
        const asked = nodeRequest(url, { method: "POST", headers, agent }, (answer) => {
          answer.resume().once("end", resolve).once("error", reject);
        });
        asked.once("error", reject).end(body);
      }),
    fetch: async () => (await fetch(url, { method: "POST", headers, body })).arrayBuffer(),
  };
  const cost = new Map<string, number[]>();
  for (let round = 0; round < rounds + 1; round++) {
    for (const [name, ask] of Object.entries(ways)) {
      const from = process.cpuUsage();
      const each = 2000;
      await Promise.all(
        Array.from({ length: 16 }, async () => {
          for (let i = 0; i < each / 16; i++) await ask();
        }),
      );
      const { user, system } = process.cpuUsage(from);
      if (round > 0) cost.set(name, [...(cost.get(name) ?? []), (user + system) / each]);
    }
  }
  agent.destroy();
  await to.agent.close();
  const least = Math.min(...[...cost.values()].map(median));
  return [
    "",
    "## Clients for calls upstream",
    "",
    `CPU of one request with its answer, 16 at a time, median of ${rounds} rounds of 2,000.`,
    "",
    "| client | µs a request | ratio |",
    "| --- | --- | --- |",
    ...[...cost].map(
      ([name, us]) => `| ${name} | ${median(us).toFixed(0)} | ${(median(us) / least).toFixed(2)} |`,
    ),
  ];
}

try {
  progress(`whole answers: ${rate} requests a second for ${seconds} s, and as many directly`);
  const whole = await measure(false);
  progress("streamed answers");
  const streamed = await measure(true);
  if (values.clients) progress("clients");
  const kept = keptClients();
  const machine = `${cpus().length} × ${cpus()[0]?.model.trim()}, load average ${busy.toFixed(1)} before it began, Node ${process.version}`;
  const text = [
    "# What the gateway adds to a call",
    "",
    `${new Date().toISOString().slice(0, 10)}, ${machine}. ${rate} requests a second through the gateway, recorded into SQLite, and as many directly to the same upstream in between, for ${seconds} s; milliseconds until the last byte.`,
    `Conversations of eight turns, 500 at a time; the upstream answers at once, streamed answers as 52 events. ${pinned ? "The gateway runs on one core, upstream and clients share the other." : "All on one core."}`,
    ...(busy > 0.5
      ? ["", "**The machine was busy with other things: these latencies are not the gateway's.**", ""]
      : []),
    `Medians of ${rounds} stretches of the run; "over all" is the difference of the quantiles of the whole run.`,
    "",
    "| answers | quantile | directly | through the gateway | added | over all | CPU a call of the gateway's process |",
    "| --- | --- | --- | --- | --- | --- | --- |",
    ...rows("whole", whole),
    ...rows("streamed", streamed),
    ...(values.clients ? await clients() : kept),
    "",
  ].join("\n");
  writeFileSync(values.out, text);
  console.log(text);
} finally {
  await upstream.stop();
  rmSync(folder, { recursive: true });
}

/** The part on clients of the last time that it was measured. */
function keptClients(): string[] {
  try {
    const [, part] = readFileSync(values.out, "utf8").split("## Clients for calls upstream");
    return part === undefined ? [] : ["", `## Clients for calls upstream${part.trimEnd()}`];
  } catch {
    return [];
  }
}
