/** Checks an environment before anything is trained in it, and measures what to expect of it. */
import { mapById } from "../../common/mapById.ts";
import { counted } from "../../common/text/counted.ts";
import { WhetstoneError } from "../../core/errors.ts";
import { type CheckResult, type Finding, findingLine, isError } from "../../core/finding.ts";
import { randomStream } from "../../core/random.ts";
import { isLogged } from "../../core/trainingExamples.ts";
import type { Task } from "../../core/types.ts";
import type { Environment } from "../../env/environment.ts";
import { declaredFindings, playedFindings, repeatedFindings } from "./claims.ts";
import { inspectLengths, type Lengths, type ModelReading } from "./lengths.ts";
import {
  episodeFindings,
  failureOf,
  type PlayedBy,
  type PlayerSummary,
  playAll,
  playersOf,
  summaryOf,
} from "./players.ts";
import { inspectTasks, type SplitTasks } from "./tasks.ts";

/** How thoroughly an environment is examined: which episodes are played, and for how long. */
export interface ExamineOptions {
  /** Episodes of each player; 0: nothing is played, only tasks and declarations are looked at. Default 20. */
  readonly episodes?: number;
  /** Splits whose tasks are played. Default: all. */
  readonly play?: readonly string[];
  /** Seconds after which no further episode is begun. Default 60. */
  readonly seconds?: number;
  /** Whether it is a finding that time ran out before all of them were played. */
  readonly needAll?: boolean;
  /** Default 1. */
  readonly seed?: number;
  /** Told after each episode. */
  readonly onEpisode?: () => void;
  /** Told before each call of an episode, and in which task. */
  readonly onCall?: (call: string) => void;
}

export interface EnvironmentReport {
  readonly environment: string;
  readonly splits: readonly { readonly name: string; readonly tasks: number; readonly trained: number }[];
  readonly players: readonly PlayerSummary[];
  /** Tokens of the model that was named. */
  readonly prompts?: Lengths;
  readonly replies?: Lengths;
  /** Mean time of the environment for one turn. */
  readonly secondsPerStep?: number;
  readonly checks: readonly CheckResult[];
  /** Errors first. */
  readonly findings: readonly Finding[];
}

/** Everything that is looked at, and what it needs to have been looked at. */
const titles = {
  tasks: "tasks are well-formed, with ids of their own, the same at every call",
  splits: "there is a train split, and what is held out is held out",
  episodes: "episodes start, go on and end without a fault",
  endings: "episodes end by themselves, and say whether they were a success",
  rewards: "rewards tell good actions from bad ones",
  claims: "equal seeds give equal episodes, and declared abilities work",
  context: "prompts and replies fit the model",
  vocabulary: "the model can read and write every word",
} as const;

/** What was found without a model: its tasks, and episodes of its players. */
export interface Examination {
  readonly environment: Environment;
  readonly splits: readonly SplitTasks[];
  readonly played: readonly PlayedBy[];
  /** Whether some were played again, to see that they come out the same. */
  readonly repeated: boolean;
  readonly findings: readonly Finding[];
}

/** Looks at all tasks and plays some of them. Never throws for what the environment does wrong. */
export async function examine(environment: Environment, options: ExamineOptions = {}): Promise<Examination> {
  const { episodes = 20, seconds = 60, seed = 1, play = environment.splits } = options;
  const { needAll = false, onEpisode = () => {}, onCall = () => {} } = options;
  const { splits, findings: taskFindings } = inspectTasks(environment);
  const findings = [...taskFindings, ...declaredFindings(environment)];
  const random = randomStream(seed);
  const deadline = performance.now() + 1000 * seconds;
  const isOver = (): boolean => performance.now() > deadline;
  const played: PlayedBy[] = [];
  let repeated = false;
  const tasks = someTasks(
    splits.filter(({ name }) => play.includes(name)).map(({ tasks }) => tasks),
    episodes,
  );
  // what cannot be listed cannot be played
  if (tasks.length > 0 && !taskFindings.some((f) => f.check === "tasks" && isError(f))) {
    for (const player of playersOf(environment))
      played.push(await playAll(environment, player, tasks, random, { isOver, onEpisode, onCall }));
    findings.push(...episodeFindings(environment, played), ...playedFindings(environment, played));
    if (needAll && isOver()) findings.push(...unplayed(played, tasks.length, seconds));
    repeated = !isOver();
    if (repeated) findings.push(...(await repeatedFindings(environment, played, random)));
  }
  return { environment, splits, played, repeated, findings };
}

/** What time was too short for. */
function unplayed(all: readonly PlayedBy[], tasks: number, seconds: number): Finding[] {
  const episodes = all.flatMap((by) => by.episodes);
  const planned = all.length * tasks;
  if (episodes.length >= planned) return [];
  const slowest = episodes.flatMap((e) => e.slowest ?? []).toSorted((a, b) => b.seconds - a.seconds)[0];
  const took =
    slowest && `; the slowest call was ${slowest.call}, ${Number(slowest.seconds.toPrecision(2))} s`;
  return [
    {
      check: "episodes",
      severity: "warning",
      problem: `Only ${episodes.length} of ${counted(planned, "episode")} ${episodes.length === 1 ? "was" : "were"} played in ${seconds} s${took ?? ""}.`,
      fix: "Make the environment faster: runs play thousands of episodes. Or give this look more time with --seconds.",
    },
  ];
}

/** The examination as a report. @param reading the model that is to act, where it is known. */
export function reportOf(
  { environment, splits, played, repeated, findings: found }: Examination,
  reading?: ModelReading,
): EnvironmentReport {
  const lengths = reading && inspectLengths(environment, tasksOfAll(splits), played, reading);
  const findings = [...found, ...(lengths?.findings ?? [])];
  const recorded = played.flatMap((p) => p.episodes);
  const turns = recorded.reduce((sum, { actions }) => sum + actions.length, 0);
  return {
    environment: environment.name,
    splits: splits.map((split) => ({ ...split, tasks: split.tasks.length })),
    players: played.map(summaryOf),
    ...(lengths?.prompts && { prompts: lengths.prompts }),
    ...(lengths?.replies && { replies: lengths.replies }),
    ...(turns > 0 && { secondsPerStep: recorded.reduce((sum, e) => sum + e.seconds, 0) / turns }),
    checks: resultsOf(findings, {
      played: recorded.length > 0,
      ended: recorded.some((e) => failureOf(e) === undefined),
      all: played.every(({ episodes }) => episodes.length > 0),
      repeated,
      read: lengths !== undefined,
    }),
    findings: findings.toSorted((a, b) => Number(isError(b)) - Number(isError(a))),
  };
}

function resultsOf(
  findings: readonly Finding[],
  {
    played,
    ended,
    all,
    repeated,
    read,
  }: Readonly<Record<"played" | "ended" | "all" | "repeated" | "read", boolean>>,
): CheckResult[] {
  const needs: Readonly<Record<string, boolean>> = {
    ...{ tasks: true, splits: true, episodes: played },
    ...{ endings: ended, rewards: ended && all, claims: ended && all && repeated },
    ...{ context: read, vocabulary: read },
  };
  return Object.entries(titles).map(([check, title]) => {
    const found = findings.some((f) => f.check === check);
    return { check, title, state: found ? "found" : needs[check] ? "passed" : "not measured" };
  });
}

const tasksOfAll = (splits: readonly SplitTasks[]): readonly Task[] => splits.flatMap(({ tasks }) => tasks);

/** So many tasks from all over: of each split in turn, evenly spaced. */
export function someTasks(splits: readonly (readonly Task[])[], most: number): readonly Task[] {
  // a logged conversation was led by somebody who is not there any more
  const playable = splits.map((tasks) => tasks.filter(({ id }) => !isLogged(id)));
  const filled = playable.filter((tasks) => tasks.length > 0);
  const share = Math.ceil(most / Math.max(1, filled.length));
  const chosen = filled.flatMap((tasks) => {
    const n = Math.min(share, tasks.length);
    return Array.from({ length: n }, (_, i) => tasks[Math.floor((i * tasks.length) / n)]!);
  });
  return [...mapById(chosen).values()].slice(0, most);
}

/** What a run looks at before it begins: all tasks, and a few episodes. */
export const quickly: ExamineOptions = { episodes: 2, seconds: 2, play: ["train"] };
/** The same for a run that goes on: its episodes were played when it began. */
export const withoutPlaying: ExamineOptions = { episodes: 0 };

/** @throws WhetstoneError `environment.broken` that lists the errors, where there are any. */
export function requireSound(environment: string, findings: readonly Finding[]): void {
  const errors = findings.filter(isError);
  if (errors.length === 0) return;
  const first = errors.slice(0, 3).map(findingLine).join(" ");
  const more = errors.length > 3 ? ` And ${errors.length - 3} more.` : "";
  const where = `environment "${environment}"`;
  const fix = "`whetstone validate` shows everything.";
  throw new WhetstoneError("environment.broken", {
    ...{ where, got: first, expected: "an environment without faults", fix },
    said: `${where}: ${first}${more} ${fix}`,
  });
}

/** For what plays the environment without training in it. @throws WhetstoneError `environment.broken` where its tasks cannot be used. */
export async function requireSoundTasks(environment: Environment): Promise<void> {
  const { findings } = await examine(environment, withoutPlaying);
  requireSound(
    environment.name,
    findings.filter(({ check }) => check !== "splits"),
  );
}
