/** The same run alone, with the live page and nobody looking, and with somebody looking: in turn, another one first each time. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { progress } from "../report.ts";
import { type Command, command } from "./command.ts";
import { cpuSeconds, descendantsOf } from "./cpu.ts";

export const sides = ["alone", "live", "watched"] as const;
export type Side = (typeof sides)[number];

/** Of one run. CPU seconds are sums over cores, and 0 where the system does not count them. */
export interface Spent {
  /** By the clock, over the iterations that count. */
  readonly seconds: number;
  /** Of the run's own process, and of the page's server beside it, over the same iterations. */
  readonly trainer: number;
  readonly server: number;
  /** Of the browser, over the same iterations. */
  readonly browser: number;
  /** CPU seconds of the server before them: it starts. */
  readonly start: number;
}

/** One for each round. */
export type LiveCost = Readonly<Record<Side, readonly Spent[]>>;

/** Iterations in which things are still being loaded, and the server starts. */
export const warmUps = 15;

export async function liveCost(
  browser: Browser,
  folder: string,
  { pairs, iterations }: { readonly pairs: number; readonly iterations: number },
): Promise<LiveCost> {
  const cost: Record<Side, Spent[]> = { alone: [], live: [], watched: [] };
  for (let round = 0; round < pairs; round++) {
    for (let i = 0; i < sides.length; i++) {
      const side = sides[(round + i) % sides.length]!;
      progress(`a run, ${side}: round ${round + 1} of ${pairs}`);
      const at = join(folder, `${side}-${round}`);
      const run = training(at, iterations, side !== "alone");
      const page = side === "watched" ? await browser.newPage() : undefined;
      try {
        cost[side].push(await spent(run, iterations, async (url) => page && look(page, url, at)));
      } finally {
        await page?.close();
        await run.stop();
      }
    }
  }
  return cost;
}

function training(at: string, iterations: number, live: boolean): Command {
  const config = `${at}.config.mjs`;
  const settings = { warmStart: { updates: 40 }, evaluation: { tasks: 0, every: 0 } };
  writeFileSync(config, `export default ${JSON.stringify(settings)};\n`);
  const count = ["--iterations", `${warmUps + iterations + 1}`];
  return command([
    ...["train", config, "--env", "facts", "--method", "grpo", "--engine", "local", "--seed", "1"],
    ...["--tasks", "8", "--group-size", "4", ...count, "--out", at, "--store", `${at}.sqlite`],
    ...(live ? ["--live"] : []),
  ]);
}

const look = (page: Page, url: string, at: string): Promise<unknown> =>
  page.goto(`${url}/runs/${encodeURIComponent(at)}`);

async function spent(
  run: Command,
  iterations: number,
  onLive: (url: string) => Promise<unknown>,
): Promise<Spent> {
  let seconds = 0;
  let before = used(run.pid);
  for (let k = 0; k < warmUps + iterations; ) {
    const said = await run.record("live", "iteration");
    if (said.type === "live") {
      await onLive(String(said.url));
      continue;
    }
    k++;
    if (k === warmUps) before = used(run.pid);
    if (k > warmUps) seconds += Number(said.seconds);
  }
  const after = used(run.pid);
  return {
    seconds,
    trainer: after.trainer - before.trainer,
    server: after.server - before.server,
    browser: after.browser - before.browser,
    start: before.server,
  };
}

/** So far: by the run's own process, by what it has begun, and by what else this process has begun. */
function used(pid: number): { readonly trainer: number; readonly server: number; readonly browser: number } {
  const sum = (pids: readonly number[]): number => pids.reduce((total, one) => total + cpuSeconds(one), 0);
  const beside = descendantsOf(pid);
  const others = descendantsOf(process.pid).filter((one) => one !== pid && !beside.includes(one));
  return { trainer: cpuSeconds(pid), server: sum(beside), browser: sum(others) };
}
