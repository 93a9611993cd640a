/** A rugged function of bits with many local optima, whose largest value is known. */
import { randomStream } from "../../../core/random.ts";
import type { Environment } from "../../../env/environment.ts";
import { oneReply } from "../../../env/oneReply.ts";

/** Settings of {@link rugged}. */
export interface RuggedOptions {
  /** Bits of a solution, more than `others`. Default 24. */
  readonly bits?: number;
  /** K, following bits that each contribution depends on beside its own. Default 4. */
  readonly others?: number;
  /** Default 1. */
  readonly seed?: number;
}

/** Contributions by place and by the number that the window of bits there reads as; the first bit counts most. */
export type Landscape = readonly (readonly number[])[];

/** An NK landscape on a line: each window of K + 1 neighbouring bits has a contribution of its own, uniform in [0, 1]. */
export function landscapeOf(bits: number, others: number, seed: number): Landscape {
  const random = randomStream(seed).split("landscape");
  return Array.from({ length: bits - others }, () =>
    Array.from({ length: 2 ** (others + 1) }, () => random.next()),
  );
}

/** Sum of the contributions of a solution. */
export function solutionValue(landscape: Landscape, solution: readonly number[]): number {
  const width = Math.log2(landscape[0]!.length);
  return landscape.reduce(
    (sum, contributions, at) =>
      sum + contributions[solution.slice(at, at + width).reduce((n, bit) => 2 * n + bit, 0)]!,
    0,
  );
}

/** The largest sum of contributions of any solution, by dynamic programming over the last K bits. */
export function largestValue(landscape: Landscape): number {
  const states = landscape[0]!.length / 2;
  let best = Array.from({ length: states }, () => 0);
  for (const contributions of landscape) {
    const next = Array.from({ length: states }, () => Number.NEGATIVE_INFINITY);
    contributions.forEach((contribution, window) => {
      const to = window % states;
      next[to] = Math.max(next[to]!, best[Math.floor(window / 2)]! + contribution);
    });
    best = next;
  }
  return Math.max(...best);
}

/** Bits of a reply; undefined for a text that is not `bits` words of 0 and 1. */
function bitsOf(reply: string, bits: number): number[] | undefined {
  const words = reply.split(/\s+/);
  return words.length === bits && words.every((word) => word === "0" || word === "1")
    ? words.map(Number)
    : undefined;
}

/** One problem: write `bits` words of 0 and 1. Pays the landscape's value as a share of its largest. */
export function rugged({ bits = 24, others = 4, seed = 1 }: RuggedOptions = {}): Environment {
  const landscape = landscapeOf(bits, others, seed);
  const most = largestValue(landscape);
  return oneReply({
    name: "rugged",
    summary: "write bits whose value in a rugged landscape is as large as possible",
    questions: 1,
    length: bits,
    words: ["0", "1"],
    seed,
    grade: (_task, reply) => {
      const solution = bitsOf(reply, bits);
      const outcome = solution === undefined ? 0 : solutionValue(landscape, solution) / most;
      return { rewards: { outcome }, success: outcome > 1 - 1e-9 };
    },
    expert: () => bestSolution(landscape).join(" "),
  });
}

/** A solution of the largest value: bit by bit the one after which the largest value is still within reach. */
function bestSolution(landscape: Landscape): number[] {
  const width = Math.log2(landscape[0]!.length);
  const bits = landscape.length + width - 1;
  const most = largestValue(landscape);
  const chosen: number[] = [];
  while (chosen.length < bits) {
    const fits = [...chosen, 1];
    chosen.push(
      largestValue(landscape.map((row, at) => allowed(row, at, fits, width))) > most - 1e-9 ? 1 : 0,
    );
  }
  return chosen;
}

/** Contributions of a place, −∞ for windows that contradict the first bits. */
const allowed = (row: readonly number[], at: number, begun: readonly number[], width: number): number[] =>
  row.map((contribution, window) =>
    begun.slice(at, at + width).some((bit, i) => bit !== (window >> (width - 1 - i)) % 2)
      ? Number.NEGATIVE_INFINITY
      : contribution,
  );
