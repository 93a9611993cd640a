/** Suites: fixed benchmarks with a report, beyond an agent's success in one environment. */

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

/** The agent to measure: a model, a chat-only model, or the scripted player of that name in each environment. */
export type SuiteAgent = Model | Chat | "expert" | "flawed";

/** Settings of a suite's run: who is measured, on how many tasks, and how actions are chosen. */
export interface SuiteOptions {
  readonly agent: SuiteAgent;
  readonly mode: "sampled" | "greedy";
  /** Artefact applied in every episode, or a behaviour tree that plays instead. Default: none. */
  readonly artefact?: Artefact;
  /** Maximum number of tasks of each part. Default: all. */
  readonly tasks?: number;
  /** Source of all randomness of the run. */
  readonly random: Random;
  /** Limits how many episodes are played at once. */
  readonly limit: <T>(work: () => Promise<T>) => Promise<T>;
  /** Called after every episode with the numbers of finished and of known episodes. */
  readonly progress?: (done: number, of: number) => void;
  readonly stop?: AbortSignal;
}

/** One number of a report. */
export interface SuiteRow {
  /** Rows of one section are shown together for comparison, e.g. "success by level". */
  readonly section: string;
  readonly name: string;
  /** A share is shown in per cent. */
  readonly unit: "share" | "number";
  /** Mean with its 95 % interval and its n. */
  readonly value: Interval;
}

/** Report of a suite. */
export interface SuiteResult {
  /** In the order of sections to show. Deterministic under the random stream. */
  readonly rows: readonly SuiteRow[];
  /** Failed episodes or answers. They are not the agent's fault and are left out of every row. */
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

/** A share of true values, with Wilson's interval. */
export const shareRow = (section: string, name: string, of: readonly boolean[]): SuiteRow => ({
  section,
  name,
  unit: "share",
  value: wilsonInterval(of.filter(Boolean).length, of.length),
});

/** A mean of numbers, with Student's interval. */
export const meanRow = (
  section: string,
  name: string,
  of: readonly number[],
  unit: SuiteRow["unit"] = "number",
): SuiteRow => ({ section, name, unit, value: meanInterval(of) });

/** An environment and a split whose tasks are played once each. */
export interface SuitePart {
  readonly environment: Environment;
  readonly split: string;
  /** Restricts a model to the legal actions that observations list. */
  readonly constrained?: boolean;
}

/**
 * Plays every task of every part once.
 * @returns the trajectories of each part; failed ones are removed and counted.
 * @throws WhetstoneError `capability.missing` if an environment does not have the scripted player.
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
    got: `the ${agent} player`,
    expected: "a scripted player that the environment has",
    fix: "Measure a model, or the other scripted player.",
  });
}
