/** Reports on a tree's episodes: metrics, and a description in words. */
import { mean } from "../../common/statistics/statistics.ts";
import { succeeded, type Trajectory } from "../../core/types.ts";
import { readSituation } from "./situation.ts";

/** A skill that failed because a fact was missing, with the count. */
export interface Failing {
  readonly skill: string;
  readonly lacks: string;
  readonly times: number;
}

export interface Report {
  /** Means over episodes: success, turns, failures (skills that failed). */
  readonly metrics: Readonly<Record<"success" | "turns" | "failures", number>>;
  /** The most frequent first. */
  readonly failings: readonly Failing[];
  /** Share of the turns spent on each skill, the most frequent first. */
  readonly spent: readonly (readonly [skill: string, share: number])[];
}

/** Utility of a tree: w · m, by default success − 0.005 · turns. */
export type Utility = (metrics: Report["metrics"]) => number;
export const usualUtility: Utility = ({ success, turns }) => success - 0.005 * turns;

/** Reports on at least one episode of a world whose observations `readSituation` parses. */
export function reportOf(trajectories: readonly Trajectory[]): Report {
  const turns = trajectories.flatMap((t) => t.turns);
  const failed = turns.flatMap(({ action, text }) => {
    const seen = text === undefined ? undefined : readSituation(text);
    return seen?.last === "failure" ? [{ skill: action.content, lacks: seen.lacks }] : [];
  });
  const wanting = failed.flatMap(({ skill, lacks }) => (lacks === undefined ? [] : [`${skill} ${lacks}`]));
  return {
    metrics: {
      success: mean(trajectories.map((t) => (succeeded(t) ? 1 : 0))),
      turns: turns.length / trajectories.length,
      failures: failed.length / trajectories.length,
    },
    failings: counted(wanting).map(([key, times]) => {
      const [skill = "", ...lacks] = key.split(" ");
      return { skill, lacks: lacks.join(" "), times };
    }),
    spent: counted(turns.map(({ action }) => action.content)).map(([skill, n]) => [skill, n / turns.length]),
  };
}

/** The report in words. */
export function narrated({ metrics: { success, turns, failures }, failings, spent }: Report): string {
  const percent = (x: number): string => `${Math.round(100 * x)} %`;
  return [
    `Success in ${percent(success)} of the episodes; on average ${turns.toFixed(1)} turns, ${failures.toFixed(1)} of them failures.`,
    ...spent.map(([skill, share]) => `${skill}: ${percent(share)} of the turns.`),
    ...failings.map(({ skill, lacks, times }) => `${skill} failed ${times} times for want of: ${lacks}.`),
  ].join("\n");
}

/** Different texts with how often each occurs, the most frequent first, equals in their order. */
function counted(texts: readonly string[]): readonly (readonly [text: string, times: number])[] {
  return [...Map.groupBy(texts, (text) => text)]
    .map(([text, all]) => [text, all.length] as const)
    .sort(([, a], [, b]) => b - a);
}
