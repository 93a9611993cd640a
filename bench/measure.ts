/** Measuring in alternation: machines drift, so every side runs in every round. */
import { setTimeout as pause } from "node:timers/promises";
import { median } from "../src/common/statistics/statistics.ts";
import { progress } from "./report.ts";

/** One measured run: `amount` of something done in `seconds`. */
export interface Measure {
  readonly seconds: number;
  readonly tokens: number;
}

export interface Entrant {
  readonly name: string;
  /** Does the work `times` over. */
  run(times: number): Promise<Measure>;
}

export interface Spread {
  readonly median: number;
  readonly low: number;
  readonly high: number;
}

export const spreadOf = (xs: readonly number[]): Spread => ({
  median: median(xs),
  low: Math.min(...xs),
  high: Math.max(...xs),
});

/** Shorter runs measure the clock and the scheduler. */
const leastSeconds = 1;
const mostTimes = 50;

/**
 * Warms everyone up, chooses for each how often the work is repeated so that a run is long enough, and lets them run
 * in turn, another one first in each round.
 * @returns the measures of each, one per round.
 */
export async function alternate(
  label: string,
  entrants: readonly Entrant[],
  { rounds, warmUps = 2 }: { readonly rounds: number; readonly warmUps?: number },
): Promise<Map<string, Measure[]>> {
  const times = new Map<string, number>();
  for (const { name, run } of entrants) {
    for (let i = 0; i < warmUps; i++) {
      progress(`${label}: ${name} warms up`);
      const { seconds } = await run(1);
      times.set(name, Math.min(mostTimes, Math.max(1, Math.ceil(leastSeconds / seconds))));
    }
  }
  const measures = new Map<string, Measure[]>(entrants.map(({ name }) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (let i = 0; i < entrants.length; i++) {
      const { name, run } = entrants[(round + i) % entrants.length]!;
      progress(`${label}: round ${round + 1} of ${rounds}, ${name}`);
      await pause(100); // threads of the one before go to sleep
      measures.get(name)!.push(await run(times.get(name) ?? 1));
    }
  }
  return measures;
}

/** Tokens per second of each round. */
export const rates = (measures: Map<string, Measure[]>): Record<string, number[]> =>
  Object.fromEntries([...measures].map(([name, of]) => [name, of.map((m) => m.tokens / m.seconds)]));
