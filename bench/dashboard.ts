// How soon the dashboard's pages show something, how fast they answer, and what a page that is open costs a run.
//
//     node bench/dashboard.ts --runs 1000 --iterations 50000 --tokens 20000 --rounds 7 --pairs 6
//
// Promised: something useful within a second, answers within 100 ms, at most 2 % of a run's speed.
// Needs Chromium. Writes bench/results/dashboard.md.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { cpus, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { build } from "vite";
import { median } from "../src/common/statistics/statistics.ts";
import { openBrowser } from "../test/browser.ts";
import { type Command, command } from "./dashboard/command.ts";
import { type LiveCost, liveCost, type Side, type Spent, warmUps } from "./dashboard/live.ts";
import { looked, type Seen } from "./dashboard/looked.ts";
import { dashboardStore } from "./dashboard/store.ts";
import { type Spread, spreadOf } from "./measure.ts";
import { progress } from "./report.ts";

const { values } = parseArgs({
  options: {
    runs: { type: "string", default: "1000" },
    iterations: { type: "string", default: "50000" },
    tokens: { type: "string", default: "20000" },
    messages: { type: "string", default: "300000" },
    rounds: { type: "string", default: "7" },
    pairs: { type: "string", default: "6" },
    train: { type: "string", default: "40" },
    out: { type: "string", default: join(import.meta.dirname, "results", "dashboard.md") },
  },
});
const [runs, iterations, tokens] = [Number(values.runs), Number(values.iterations), Number(values.tokens)];
const messages = Number(values.messages);
const [rounds, pairs, train] = [Number(values.rounds), Number(values.pairs), Number(values.train)];
const [load = 0] = loadavg();

const folder = mkdtempSync(join(tmpdir(), "whetstone-dashboard-"));
const browser = await openBrowser();
let server: Command | undefined;
let seen: readonly Seen[] = [];
let cost: LiveCost | undefined;
let busy = 0;
try {
  progress("building the pages");
  await build({
    configFile: join(import.meta.dirname, "..", "web", "vite.config.ts"),
    logLevel: "warn",
  });
  progress("writing the store");
  const made = await dashboardStore(folder, {
    runs,
    iterations,
    others: 100,
    tokens,
    line: 1_000_000,
    messages,
  });
  server = command(["dashboard", "--store", made.file, "--port", "0"]);
  const { url } = await server.record("serving");
  seen = await looked(browser, String(url), made, rounds);
  await server.stop();
  [busy = 0] = loadavg();
  if (pairs > 0) cost = await liveCost(browser, folder, { pairs, iterations: train });
} finally {
  await server?.stop();
  await browser.close();
  rmSync(folder, { recursive: true });
}

const bound = { first: 1000, answer: 100, cost: 1.02 };
const kept = (is: boolean): string => (is ? "yes" : "**no**");
const machine = `${cpus().length} × ${cpus()[0]?.model.trim()}, Node ${process.version}`;
const text = [
  "# The dashboard",
  "",
  `\`node bench/dashboard.ts --runs ${runs} --iterations ${iterations} --tokens ${tokens} --rounds ${rounds} --pairs ${pairs} --train ${train}\`, ${new Date().toISOString().slice(0, 10)}, ${machine}. Headless Chromium on the same machine; processes that wanted a core before it began: ${load.toFixed(1)}.`,
  "",
  `${runs} runs, one of ${iterations} iterations; an episode of ${tokens} tokens, and one that reads a line of a megabyte; a session of ${messages} messages in conversations of fifty turns, and one whose single prompt has as many. Milliseconds: from the start of loading to the first frame with something useful on it, at most ${bound.first}; from an event to the frame that answers it, at most ${bound.answer}. Median of ${rounds} rounds with an empty cache; the first round, in which the server reads the store, is stated by itself.`,
  "",
  "| page | what | median | rounds | first round | kept |",
  "| --- | --- | --: | --- | --: | --- |",
  ...seen.map(({ page, what, kind, ms: [first = Number.NaN, ...rest] }) => {
    const { median, low, high } = spreadOf(rest.length > 0 ? rest : [first]);
    const ok = median <= bound[kind] && (kind === "answer" || first <= bound.first);
    const spread = `${low.toFixed(0)} to ${high.toFixed(0)}`;
    return `| ${page} | ${what} | **${median.toFixed(0)}** | ${spread} | ${first.toFixed(0)} | ${kept(ok)} |`;
  }),
  "",
  ...(cost ? costs(cost) : []),
].join("\n");
writeFileSync(values.out, text);
console.log(text);

function costs(cost: LiveCost): string[] {
  const row = (name: string, side: Exclude<Side, "alone">): string => {
    const runs = cost[side];
    const over = (of: (spent: Spent) => number): number[] =>
      runs.map((spent, i) => of(spent) / of(cost.alone[i]!));
    const each = (of: (spent: Spent) => number): string => (median(runs.map(of)) / train).toFixed(4);
    const clock = spreadOf(over(({ seconds }) => seconds));
    // what else wants the cores changes what a run works by no more than its own caches
    const work = spreadOf(runs.map(({ trainer, server }, i) => (trainer + server) / cost.alone[i]!.trainer));
    const range = ({ low, high }: Spread): string => `${low.toFixed(3)} to ${high.toFixed(3)}`;
    return `| ${[
      name,
      `**${clock.median.toFixed(3)}**`,
      range(clock),
      kept(clock.median <= bound.cost),
      `**${work.median.toFixed(3)}**`,
      range(work),
      each(({ trainer }) => trainer),
      each(({ server }) => server),
      each(({ browser }) => browser),
      median(runs.map(({ start }) => start)).toFixed(2),
    ].join(" | ")} |`;
  };
  const alone = median(cost.alone.map(({ seconds }) => seconds));
  const work = median(cost.alone.map(({ trainer }) => trainer));
  return [
    "## What it costs a run",
    "",
    `\`whetstone train --env facts\` from random weights on the local engine: ${train} iterations, after ${warmUps} in which the page's server starts, beside those of the same run without \`--live\` (${alone.toFixed(0)} s by the clock, ${work.toFixed(0)} s of CPU), in ${pairs} rounds of all three, another one first in each. By the clock at most ${bound.cost}; CPU seconds are the run's and its page's server's together, and say more where a machine has other work. The server yields to the run (nice 19). Processes that wanted a core before it began: ${busy.toFixed(1)}.`,
    "",
    "| | clock, median ratio | rounds | kept | CPU, median ratio | rounds | run, CPU s an iteration | server | browser | server's start, CPU s once |",
    "| --- | --: | --- | --- | --: | --- | --: | --: | --: | --: |",
    row("`--live`, nobody looks", "live"),
    row("`--live`, the run's page open in Chromium", "watched"),
    "",
  ];
}
