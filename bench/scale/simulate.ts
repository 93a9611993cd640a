/**
 * A cluster run as events: episodes take a free place on the sampling nodes in their order, an iteration is learnt from
 * once all of its episodes are through, and rollouts may run ahead of learning as `--staleness` lets them:
 *
 *     begin(j) = the end of learning of iteration j − N − 1, and of handing its weights to the samplers
 *     end(j)   = max(end(j − 1), the last episode of j) + learning
 */
import { randomStream } from "../../src/core/random.ts";

export interface Cluster {
  /** Sequences that all sampling nodes write side by side. */
  readonly slots: number;
  /** Seconds of learning from one iteration: passes and step. */
  readonly learning: number;
  /** Seconds until the samplers have the new weights. */
  readonly handing: number;
}

export interface Work {
  /** Episodes of an iteration. */
  readonly episodes: number;
  /** Mean length of an episode, seconds. */
  readonly mean: number;
  /** How lengths lie around it: all equal, exponential, or log-normal with this deviation of the logarithm. */
  readonly lengths: "equal" | "exponential" | { readonly sigma: number };
  /** Iterations that rollouts may run ahead. */
  readonly staleness: number;
}

export interface Simulated {
  /** Seconds from the end of one iteration's learning to that of the next, in the mean once the run is under way. */
  readonly iteration: number;
  /** Share of the time in which places on the sampling nodes write. */
  readonly writing: number;
  /** Share of the time in which the trainers learn. */
  readonly learning: number;
}

/** @param iterations those that count, after as many as it takes until everything is under way. */
export function simulate(cluster: Cluster, work: Work, iterations: number, seed: number): Simulated {
  const { slots, learning, handing } = cluster;
  const { episodes, staleness } = work;
  const warm = 2 * (staleness + 1);
  const free = heapOf(slots);
  const ends: number[] = [];
  let busy = 0;
  for (let j = 0; j < warm + iterations; j++) {
    const before = j - staleness - 1;
    const begin = before < 0 ? 0 : ends[before]! + handing;
    const random = randomStream(seed).split(j);
    let last = 0;
    for (let e = 0; e < episodes; e++) {
      const length = work.mean * lengthOf(work.lengths, random);
      const end = Math.max(begin, free.least()) + length;
      free.replaceLeast(end);
      last = Math.max(last, end);
      if (j >= warm) busy += length;
    }
    ends.push(Math.max(ends.at(-1) ?? 0, last) + learning);
  }
  const iteration = (ends.at(-1)! - ends[warm - 1]!) / iterations;
  return { iteration, writing: busy / (iterations * iteration * slots), learning: learning / iteration };
}

/** Of mean 1. */
function lengthOf(lengths: Work["lengths"], random: ReturnType<typeof randomStream>): number {
  if (lengths === "equal") return 1;
  if (lengths === "exponential") return -Math.log(1 - random.next());
  return Math.exp(lengths.sigma * random.normal() - lengths.sigma ** 2 / 2);
}

/** So many zeros, of which the least can be replaced by something greater. */
function heapOf(size: number) {
  const times = new Float64Array(size);
  return {
    least: () => times[0]!,
    replaceLeast(time: number) {
      let at = 0;
      for (;;) {
        const [left, right] = [2 * at + 1, 2 * at + 2];
        const child = right < size && times[right]! < times[left]! ? right : left;
        if (child >= size || times[child]! >= time) break;
        times[at] = times[child]!;
        at = child;
      }
      times[at] = time;
    },
  };
}
