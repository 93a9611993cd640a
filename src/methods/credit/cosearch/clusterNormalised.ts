import { leastDeviation, moments, onTop } from "../../../advantage/returns.ts";
import { mapById } from "../../../common/mapById.ts";
import { overAll, tokenRange } from "../../../common/tokens/tokenRanges.ts";
import type { Advantage, Credited } from "../../../core/slots.ts";
import type { Id, Turn } from "../../../core/types.ts";

/** Settings of {@link clusterNormalised}. */
export interface ClusterNormalisedOptions {
  /** Channels of the credits, kept apart from each other. */
  readonly channels: readonly string[];
  /** Text by which calls are clustered. Default: the first line of the last user message before the action. */
  readonly text?: (turn: Turn) => string;
  /** Overlap (ROUGE-1, F1) with a cluster's first text from which a call joins it, in [0, 1]. Default 0.8. */
  readonly similarity?: number;
  /** Smallest deviation to divide by. Default 1e-4. */
  readonly floor?: number;
}

/**
 * Normalises calls within clusters of similar queries of the same task and channel:
 *
 *     A = (R − mean(cluster)) / max(std(cluster), floor)        on the action tokens of the call's turn
 *
 * Clusters are greedy: in the order of the experience, a call joins the first cluster whose first text overlaps enough
 * with its own, or opens one. Texts are compared in lower case without articles and punctuation. A call that is alone in
 * its cluster, or in one of equal values, gets 0. Credits about whole trajectories are left out.
 *
 * Stats: clusters, aloneCalls (share of the calls that are alone in their cluster).
 * Paper: "CoSearch: Joint Training of Reasoning and Document Ranking via Reinforcement Learning for Agentic Search".
 */
export function clusterNormalised(options: ClusterNormalisedOptions): Advantage<null> {
  const { channels: named, text = lastQuestion, similarity = 0.8, floor = leastDeviation } = options;
  return {
    name: "clusterNormalised",
    init: () => null,
    apply: ({ trajectories, channels }, _state, soFar) => {
      const byId = mapById(trajectories);
      const pools = new Map<string, Cluster[]>();
      for (const channel of named) {
        for (const credit of channels[channel] ?? []) {
          const t = byId.get(credit.at.trajectory);
          const turn = t?.turns[credit.at.turn ?? -1];
          if (!t || !turn) continue;
          const key = `${channel} ${t.task}`;
          const pool = pools.get(key) ?? [];
          pools.set(key, pool);
          const words = plainWords(text(turn));
          const joined = pool.find((c) => overlap(c.words, words) >= similarity);
          if (joined) joined.calls.push(credit);
          else pool.push({ words, calls: [credit] });
        }
      }
      const advantages = new Map<Id, Float32Array>();
      let calls = 0;
      let alone = 0;
      const clusters = [...pools.values()].flat();
      for (const cluster of clusters) {
        const { mean, deviation } = moments(cluster.calls.map((c) => c.value));
        calls += cluster.calls.length;
        if (cluster.calls.length === 1) alone++;
        for (const { at, value } of cluster.calls) {
          const t = byId.get(at.trajectory)!;
          const own = advantages.get(t.id) ?? overAll(t, 0);
          advantages.set(t.id, own);
          own.fill(
            deviation === 0 ? 0 : (value - mean) / Math.max(deviation, floor),
            ...tokenRange(t, { trajectory: t.id, turn: at.turn! }),
          );
        }
      }
      return {
        advantages: onTop(advantages, soFar),
        next: null,
        stats: { clusters: clusters.length, ...(calls > 0 && { aloneCalls: alone / calls }) },
      };
    },
  };
}

interface Cluster {
  readonly words: readonly string[];
  readonly calls: Credited[];
}

const lastQuestion = ({ prompt }: Turn): string =>
  prompt.findLast((m) => m.role === "user")?.content.split("\n")[0] ?? "";

const plainWords = (text: string): readonly string[] =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s]/gu, " ")
    .split(/\s+/)
    .filter((word) => word !== "" && !["a", "an", "the"].includes(word));

/** ROUGE-1 F1: twice the shared words, with their counts, over the words of both. Two empty texts are the same. */
export function overlap(a: readonly string[], b: readonly string[]): number {
  if (a.length + b.length === 0) return 1;
  const left = new Map<string, number>();
  for (const word of a) left.set(word, (left.get(word) ?? 0) + 1);
  let shared = 0;
  for (const word of b) {
    const n = left.get(word) ?? 0;
    if (n === 0) continue;
    shared++;
    left.set(word, n - 1);
  }
  return (2 * shared) / (a.length + b.length);
}
