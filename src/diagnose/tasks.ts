/** What a run trained on: which of its tasks are solved, which teach something, and which nothing. */
import { wilsonInterval } from "../common/statistics/statistics.ts";
import type { Interval } from "../core/interval.ts";
import type { RunStore, TaskBlock } from "../store/runStore.ts";

/** Where a task stands: by success in its last episodes, at most a tenth or at least nine tenths of them; "new" below four episodes, "unrated" where no end says whether it succeeded. */
export const standings = ["unsolved", "frontier", "solved", "new", "unrated"] as const;
export type Standing = (typeof standings)[number];

/** A task, as one role plays it. */
export interface TaskState {
  readonly task: string;
  readonly role: string;
  /** Its first words. */
  readonly asked: string;
  readonly standing: Standing;
  readonly episodes: number;
  /** Success in its last episodes: whole blocks, until there are sixteen. */
  readonly recent: Interval;
  /** How much success rose from all episodes before those; NaN where there are none. */
  readonly change: number;
  /** Mean reward in the last block; NaN where none is known. */
  readonly reward: number;
  /** Times it was trained on, and those in which every episode got the same reward. */
  readonly groups: number;
  readonly dead: number;
  /** The first and the last iteration of the blocks in which it was trained on. */
  readonly first: number;
  readonly last: number;
  /** Success in each block, by the block's index; absent where it was not trained on or has none. */
  readonly shares: Readonly<Record<number, number>>;
}

/** How many tasks stand where, of those trained on so far. */
export type Frontier = Readonly<Record<Standing, number>> & {
  /** The last iteration of the block. */
  readonly iteration: number;
  /** Share of the block's groups in which every episode got the same reward. */
  readonly dead: number;
};

/** The tasks of a run, in blocks of `width` iterations. */
export interface TrainedTasks {
  readonly width: number;
  readonly iterations: number;
  readonly tasks: readonly TaskState[];
  readonly frontier: readonly Frontier[];
}

/** Rated episodes that count as recent, at least; and those below which nothing is said. */
const [recentEpisodes, fewest] = [16, 4];
/** Shares up to which a task counts as unsolved, and from which on as solved. */
const [unsolvedUpTo, solvedFrom] = [0.1, 0.9];
/** Most blocks: what a page can show side by side. */
export const mostBlocks = 60;

/** Reads the tasks that a run trained on, its iterations in at most sixty blocks. */
export async function trainedTasks(store: RunStore, run: string): Promise<TrainedTasks> {
  const { iterations } = await store.measured(run);
  const width = Math.max(1, Math.ceil(iterations / mostBlocks));
  const [rows, asked] = await Promise.all([store.taskBlocks(run, width), store.taskWords(run)]);
  return trainedTasksIn(rows, asked, width, iterations);
}

/** @param rows by block. @param asked the first words of each task. */
export function trainedTasksIn(
  rows: readonly TaskBlock[],
  asked: ReadonlyMap<string, string>,
  width: number,
  iterations: number,
): TrainedTasks {
  const histories = new Map<string, TaskBlock[]>();
  const standing = new Map<string, Standing>();
  const frontier: Frontier[] = [];
  for (const [block, played] of Map.groupBy(rows, (row) => row.block)) {
    for (const row of played) {
      const key = JSON.stringify([row.task, row.role]);
      const history = histories.get(key) ?? [];
      histories.set(key, history);
      history.push(row);
      standing.set(key, standingOf(history));
    }
    const counts = Object.fromEntries(standings.map((name) => [name, 0])) as Record<Standing, number>;
    for (const one of standing.values()) counts[one]++;
    const groups = played.reduce((n, row) => n + row.groups, 0);
    const dead = played.reduce((n, row) => n + row.dead, 0);
    frontier.push({
      ...counts,
      iteration: Math.min(iterations, (block + 1) * width) - 1,
      dead: dead / groups,
    });
  }
  const tasks = [...histories.values()].map((history) => stateOf(history, asked, width, iterations));
  return { width, iterations, tasks, frontier };
}

/** The last blocks with at least sixteen rated episodes, or all. @param history oldest first. */
function recentOf(history: readonly TaskBlock[]): readonly TaskBlock[] {
  let rated = 0;
  const from = history.findLastIndex((row) => {
    rated += row.rated;
    return rated >= recentEpisodes;
  });
  return from < 0 ? history : history.slice(from);
}

const successIn = (rows: readonly TaskBlock[]): Interval =>
  wilsonInterval(
    rows.reduce((n, row) => n + row.successes, 0),
    rows.reduce((n, row) => n + row.rated, 0),
  );

function standingOf(history: readonly TaskBlock[]): Standing {
  const { mean, n } = successIn(recentOf(history));
  if (n < fewest) return n === 0 && history.length > 1 ? "unrated" : "new";
  return mean <= unsolvedUpTo ? "unsolved" : mean >= solvedFrom ? "solved" : "frontier";
}

function stateOf(
  history: readonly TaskBlock[],
  asked: ReadonlyMap<string, string>,
  width: number,
  iterations: number,
): TaskState {
  const [first, last] = [history[0]!, history.at(-1)!];
  const recent = recentOf(history);
  const success = successIn(recent);
  const before = successIn(history.slice(0, history.length - recent.length));
  const rated = history.filter((row) => row.rated > 0);
  return {
    task: first.task,
    role: first.role,
    asked: asked.get(first.task) ?? "",
    standing: standingOf(history),
    episodes: history.reduce((n, row) => n + row.episodes, 0),
    recent: success,
    change: before.n === 0 ? Number.NaN : success.mean - before.mean,
    reward: last.reward,
    groups: history.reduce((n, row) => n + row.groups, 0),
    dead: history.reduce((n, row) => n + row.dead, 0),
    first: first.block * width,
    last: Math.min(iterations, (last.block + 1) * width) - 1,
    shares: Object.fromEntries(rated.map((row) => [row.block, row.successes / row.rated])),
  };
}

/** Orders of tasks: what is hardest first, what rose most, what was trained on last, what had most episodes. */
export const taskOrders = {
  hardest: (a: TaskState, b: TaskState) => low(a.recent.mean) - low(b.recent.mean) || b.episodes - a.episodes,
  progress: (a: TaskState, b: TaskState) => rise(b) - rise(a),
  latest: (a: TaskState, b: TaskState) => b.last - a.last || b.first - a.first,
  most: (a: TaskState, b: TaskState) => b.episodes - a.episodes,
} as const;

const low = (share: number): number => (Number.isNaN(share) ? 2 : share);
const rise = ({ change }: TaskState): number => (Number.isNaN(change) ? -2 : change);
