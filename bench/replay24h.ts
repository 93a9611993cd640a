// A day of traffic at one request a second, replayed faster, and the memory that the gateway holds meanwhile.
//
//     node bench/replay24h.ts --hours 24 --speed 100
//
// A day at 100 times its pace takes 15 minutes. Writes bench/results/replay24h.md.
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { call, quantile, steadily, target, timed } from "./gateway/load.ts";
import { started, type Usage } from "./gateway/started.ts";
import { progress } from "./report.ts";

const { values } = parseArgs({
  options: {
    hours: { type: "string", default: "24" },
    speed: { type: "string", default: "100" },
    out: { type: "string", default: join(import.meta.dirname, "results", "replay24h.md") },
  },
});
const [hours, speed] = [Number(values.hours), Number(values.speed)];
const seconds = (hours * 3600) / speed;
const folder = mkdtempSync(join(tmpdir(), "replay-"));
const store = join(folder, "store.sqlite");
const upstream = await started("upstream", []);
// time runs faster for what is forgotten by time as well: an hour of silence
const gateway = await started("served", [upstream.url, store, `${3_600_000 / speed}`], {
  flags: ["--expose-gc"],
});
const to = target(gateway.url);

interface Sample extends Usage {
  /** Of replayed time. */
  readonly hour: number;
}
const samples: Sample[] = [];
const latencies: number[] = [];
let failed = 0;
const running = new Set<Promise<unknown>>();
const begun = performance.now();

async function sample(): Promise<void> {
  const hour = ((performance.now() - begun) / 1000 / 3600) * speed;
  const usage = await gateway.usage();
  samples.push({ hour, ...usage });
  progress(
    `${hour.toFixed(1)} of ${hours} h: heap ${mib(usage.heapUsed)} MiB, resident ${mib(usage.rss)} MiB`,
  );
}
const mib = (bytes: number): string => (bytes / 2 ** 20).toFixed(1);

/** Least squares: slope, and its standard error, by hour. */
function slope(points: readonly (readonly [x: number, y: number])[]): {
  readonly slope: number;
  readonly error: number;
} {
  const n = points.length;
  const mean = (k: 0 | 1): number => points.reduce((sum, p) => sum + p[k], 0) / n;
  const [mx, my] = [mean(0), mean(1)];
  const sxx = points.reduce((sum, [x]) => sum + (x - mx) ** 2, 0);
  const b = points.reduce((sum, [x, y]) => sum + (x - mx) * (y - my), 0) / sxx;
  const rest = points.reduce((sum, [x, y]) => sum + (y - my - b * (x - mx)) ** 2, 0);
  return { slope: b, error: Math.sqrt(rest / (n - 2) / sxx) };
}

try {
  const timer = setInterval(() => void sample(), (seconds * 1000) / 48);
  await steadily(speed, seconds, (n) => {
    // conversations of eight calls, some twenty seconds apart
    const { body, session } = call(n, n % 4 === 3, 20);
    const done = timed(to, body, session).then((ms) => (ms === undefined ? failed++ : latencies.push(ms)));
    running.add(done);
    void done.finally(() => running.delete(done));
  });
  await Promise.all(running);
  clearInterval(timer);
  await sample();
  // what grows until everything has been used once is no growth: the second half counts
  const late = samples.filter(({ hour }) => hour >= hours / 2);
  const rows = (["heapUsed", "external", "rss"] as const).map((what) => {
    const fit = slope(late.map((s) => [s.hour, s[what] / 2 ** 20]));
    const [first, last] = [late[0]![what], late.at(-1)![what]];
    const margin = 2 * fit.error;
    return `| ${what} | ${mib(first)} | ${mib(last)} | ${fit.slope.toFixed(3)} ± ${margin.toFixed(3)} |`;
  });
  const end = samples.at(-1)!;
  const text = [
    "# A day of traffic, and the gateway's memory",
    "",
    `${new Date().toISOString().slice(0, 10)}, Node ${process.version}. ${hours} h at one request a second, replayed ${speed} times faster: ${latencies.length} calls (${failed} more failed), a quarter of them streamed, in conversations of eight turns, recorded into SQLite (${mib(statSync(store).size)} MiB at the end; ${end.lost} lost). What is forgotten after an hour of silence was forgotten after ${(3600 / speed).toFixed(0)} s.`,
    `Memory after a full garbage collection, ${samples.length} samples; slopes by least squares over the second half, ± two standard errors, in MiB per replayed hour.`,
    "",
    "| memory | MiB at half-time | MiB at the end | MiB an hour |",
    "| --- | --- | --- | --- |",
    ...rows,
    "",
    `Milliseconds until the last byte meanwhile: p50 ${quantile(latencies, 0.5).toFixed(1)}, p99 ${quantile(latencies, 0.99).toFixed(1)}.`,
    "",
  ].join("\n");
  writeFileSync(values.out, text);
  console.log(text);
} finally {
  await to.agent.close();
  await gateway.stop();
  await upstream.stop();
  rmSync(folder, { recursive: true });
}
