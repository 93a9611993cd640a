/** What an agent can be measured by beyond its success in one environment: fixed measurements with a report. */

import { meanInterval, wilsonInterval } from "../common/statistics/statistics.ts";
import type { Artefact } from "../core/artefact.ts";
import type { Chat } from "../core/chat.ts";
import { WhetstoneError } from "../core/errors.ts";
import type { Interval } from "../core/interval.ts";
import type { Model } from "../core/model.ts";
import type { Random } from "../core/random.ts";
import type { Trajectory } from "../core/types.ts";
import type { Environment, Player } from "../env/environment.ts";
import { evaluate } from "../train/evaluate.ts";

/** Whom a suite measures: a model, one that only talks, or the scripted player of that name in each environment. */
export type SuiteAgent = Model | Chat | "expert" | "flawed";

export interface SuiteOptions {
  readonly agent: SuiteAgent;
  readonly mode: "sampled" | "greedy";
  /** What it is told in every episode, or the behaviour tree that plays in its place. Default: nothing. */
  readonly artefact?: Artefact;
  /** The first so many tasks of each part. Default: all. */
  readonly tasks?: number;
  /** All randomness of the run. */
  readonly random: Random;
  /** How many episodes are played at once is the caller's affair. */
  readonly limit: <T>(work: () => Promise<T>) => Promise<T>;
  /** Told after every episode how many of how many are done, as far as is known by then. */
  readonly progress?: (done: number, of: number) => void;
  readonly stop?: AbortSignal;
}

/** One number of a report. */
export interface SuiteRow {
  /** What it is to be compared with: rows of one section stand together, e.g. "success by level". */
  readonly section: string;
  readonly name: string;
  /** A share is shown in per cent. */
  readonly unit: "share" | "number";
  /** With its 95 % interval, and of how many it is the mean. */
  readonly value: Interval;
}

export interface SuiteResult {
  /** Sections in the order in which they are to be read. Deterministic under the random stream. */
  readonly rows: readonly SuiteRow[];
  /** Episodes, or answers, that failed: not the agent's doing, and left out of every row. */
  readonly failed: number;
}

/** A benchmark that `whetstone eval --suite` runs. */
export interface EvaluationSuite {
  readonly name: string;
  /** One line for lists. */
  readonly summary: string;
  /** How to read the report: what each section means. */
  readonly measures: string;
  /** Title of the paper that it comes from. */
  readonly paper?: string;
  run(options: SuiteOptions): Promise<SuiteResult>;
}

/** A share of yes among yes and no, with Wilson's interval. */
export const shareRow = (section: string, name: string, of: readonly boolean[]): SuiteRow => ({
  section,
  name,
  unit: "share",
  value: wilsonInterval(of.filter(Boolean).length, of.length),
});

/** The mean of numbers that need not be yes or no, with Student's interval. */
export const meanRow = (
  section: string,
  name: string,
  of: readonly number[],
  unit: SuiteRow["unit"] = "number",
): SuiteRow => ({ section, name, unit, value: meanInterval(of) });

/** An environment whose tasks of a split are to be played once each. */
export interface SuitePart {
  readonly environment: Environment;
  readonly split: string;
  /** A model chooses among what observations list as legal. */
  readonly constrained?: boolean;
}

/**
 * Plays every task of every part once.
 * @returns the trajectories of each part, by part, failed ones taken out and counted.
 * @throws WhetstoneError `capability.missing` where an environment has no such scripted player.
 */
export async function playParts(
  parts: readonly SuitePart[],
  options: SuiteOptions,
): Promise<{ readonly played: readonly (readonly Trajectory[])[]; readonly failed: number }> {
  const { agent, mode, artefact, tasks = Number.POSITIVE_INFINITY, random, limit, progress, stop } = options;
  const agents = parts.map(({ environment }) => agentIn(environment, agent));
  const of = parts.reduce((n, p) => n + Math.min(tasks, p.environment.tasks(p.split).length), 0);
  let done = 0;
  const told: SuiteOptions["limit"] = (work) =>
    limit(async () => {
      const result = await work();
      progress?.(++done, of);
      return result;
    });
  const played: (readonly Trajectory[])[] = [];
  for (const [i, { environment, split, constrained }] of parts.entries()) {
    const { trajectories } = await evaluate({
      environment,
      agent: agents[i]!,
      split,
      mode,
      tasks,
      random: random.split(environment.name),
      limit: told,
      ...(artefact ? { artefact } : {}),
      ...(constrained ? { constrained } : {}),
      ...(stop ? { stop } : {}),
    });
    played.push(trajectories);
  }
  const counted = played.map((list) => list.filter((t) => t.end.kind !== "failed"));
  return { played: counted, failed: played.flat().length - counted.flat().length };
}

function agentIn(environment: Environment, agent: SuiteAgent): Model | Chat | Player {
  if (typeof agent !== "string") return agent;
  const player = environment[agent];
  if (player) return player;
  throw new WhetstoneError("capability.missing", {
    where: `environment ${environment.name}`,
    got: `a wish for its ${agent} player`,
    expected: "an environment that has one",
    mend: "Measure a model, or the other scripted player.",
  });
}
