/** The same run alone, with the live page and nobody looking, and with somebody looking: in turn, another one first each time. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { progress } from "../report.ts";
import { command } from "./command.ts";

/** Seconds of the same iterations, one number for each round. */
export interface LiveCost {
  readonly alone: readonly number[];
  readonly live: readonly number[];
  readonly watched: readonly number[];
}

/** Iterations in which things are still being loaded. */
const warmUps = 2;

export async function liveCost(
  browser: Browser,
  folder: string,
  { pairs, iterations }: { readonly pairs: number; readonly iterations: number },
): Promise<LiveCost> {
  const cost = { alone: [] as number[], live: [] as number[], watched: [] as number[] };
  const sides = ["alone", "live", "watched"] as const;
  for (let round = 0; round < pairs; round++) {
    for (let i = 0; i < sides.length; i++) {
      const side = sides[(round + i) % sides.length]!;
      progress(`a run, ${side}: round ${round + 1} of ${pairs}`);
      const at = join(folder, `${side}-${round}`);
      cost[side].push(await secondsOf(browser, at, iterations, side));
    }
  }
  return cost;
}

async function secondsOf(
  browser: Browser,
  at: string,
  iterations: number,
  side: keyof LiveCost,
): Promise<number> {
  const config = `${at}.config.mjs`;
  writeFileSync(
    config,
    `export default ${JSON.stringify({ warmStart: { updates: 40 }, evaluation: { tasks: 0, every: 0 } })};\n`,
  );
  const run = command([
    ...["train", config, "--env", "facts", "--method", "grpo", "--engine", "local", "--seed", "1"],
    ...[
      "--tasks",
      "8",
      "--group-size",
      "4",
      "--iterations",
      `${warmUps + iterations + 1}`,
      "--out",
      at,
      "--store",
      `${at}.sqlite`,
    ],
    ...(side === "alone" ? [] : ["--live"]),
  ]);
  const page = side === "watched" ? await browser.newPage() : undefined;
  try {
    if (page) {
      const { url } = await run.record("live");
      await page.goto(`${String(url)}/runs/${encodeURIComponent(at)}`);
    }
    let sum = 0;
    for (let k = 0; k < warmUps + iterations; k++) {
      const { seconds } = await run.record("iteration");
      if (k >= warmUps) sum += Number(seconds);
    }
    return sum;
  } finally {
    await page?.close();
    await run.stop();
  }
}
