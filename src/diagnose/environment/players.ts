/** Plays an environment with its scripted players and at random, and looks at what comes back. */

import { mean, wilsonInterval } from "../../common/statistics/statistics.ts";
import { counted } from "../../common/text/counted.ts";
import type { Finding } from "../../core/finding.ts";
import type { Interval } from "../../core/interval.ts";
import type { Random } from "../../core/random.ts";
import { paid, succeeded, type Task } from "../../core/types.ts";
import type { Environment, Player } from "../../env/environment.ts";
import { playRecorded, type RecordedEpisode } from "./recorded.ts";

export type PlayerName = "expert" | "flawed" | "random";

export interface PlayedBy {
  readonly player: PlayerName;
  readonly episodes: readonly RecordedEpisode[];
}

/** What came of a player's episodes. Failed ones are counted apart. */
export interface PlayerSummary {
  readonly player: PlayerName;
  readonly episodes: number;
  readonly success: Interval;
  /** Mean of an episode, like turns. */
  readonly reward: number;
  readonly turns: number;
  readonly truncated: number;
  readonly failed: number;
}

/** The environment's scripted players, then one that acts at random: among what is legal, else with words that it knows. */
export function playersOf(environment: Environment): readonly (readonly [PlayerName, Player])[] {
  const words = [...new Set((environment.vocabulary?.() ?? []).flatMap(wordsIn))];
  const random: Player = (task, conversation, stream, legal) => {
    if (legal && legal.length > 0) return legal[stream.below(legal.length)]!;
    const known =
      words.length > 0 ? words : wordsIn([...task.prompt, ...conversation].map((m) => m.content).join(" "));
    const count = 1 + stream.below(Math.min(5, environment.limits.actionTokens));
    return Array.from({ length: count }, () => known[stream.below(known.length)] ?? "hello").join(" ");
  };
  const all: readonly (readonly [PlayerName, Player | undefined])[] = [
    ["expert", environment.expert],
    ["flawed", environment.flawed],
    ["random", random],
  ];
  return all.flatMap(([name, player]) => (player ? [[name, player] as const] : []));
}

export const wordsIn = (text: string): string[] => text.split(/\s+/).filter(Boolean);

/** One episode a task. Stops early once `isOver` says so. */
export async function playAll(
  environment: Environment,
  [name, player]: readonly [PlayerName, Player],
  tasks: readonly Task[],
  random: Random,
  { isOver = () => false, onEpisode = () => {}, onCall = () => {} }: PlayOptions = {},
): Promise<PlayedBy> {
  const episodes: RecordedEpisode[] = [];
  for (const task of tasks) {
    if (isOver()) break;
    episodes.push(await playRecorded(environment, task, player, streamOf(random, name, task), onCall));
    onEpisode();
    // one that hangs would do so every time
    if (episodes.at(-1)!.seconds >= (environment.limits.seconds ?? 60)) break;
  }
  return { player: name, episodes };
}

interface PlayOptions {
  readonly isOver?: () => boolean;
  readonly onEpisode?: () => void;
  readonly onCall?: (call: string) => void;
}

/** The stream of an episode: the same player in the same task draws the same again. */
export const streamOf = (random: Random, player: PlayerName, task: Task): Random =>
  random.split("validate", player, task.id);

export const failureOf = ({ trajectories }: RecordedEpisode): string | undefined => {
  const failed = trajectories.find(({ end }) => end.kind === "failed");
  return failed?.end.kind === "failed" ? failed.end.message : undefined;
};
export const hasSucceeded = ({ trajectories }: RecordedEpisode): boolean => trajectories.every(succeeded);
const rewardOf = ({ trajectories }: RecordedEpisode): number =>
  trajectories.reduce((sum, t) => sum + paid(t), 0);
const isTruncated = ({ trajectories }: RecordedEpisode): boolean =>
  trajectories.some(({ end }) => end.kind === "truncated");

export function summaryOf({ player, episodes }: PlayedBy): PlayerSummary {
  const ended = episodes.filter((e) => failureOf(e) === undefined);
  return {
    player,
    episodes: episodes.length,
    success: wilsonInterval(ended.filter(hasSucceeded).length, ended.length),
    reward: mean(ended.map(rewardOf)),
    turns: mean(ended.map(({ actions }) => actions.length)),
    truncated: ended.filter(isTruncated).length,
    failed: episodes.length - ended.length,
  };
}

/** What is wrong with how episodes go and end. */
export function episodeFindings(environment: Environment, all: readonly PlayedBy[]): Finding[] {
  return [...failures(all), ...endings(environment, all), ...rewardFindings(all)];
}

/** One finding for messages that differ in values alone, with how often and where they came first. */
function failures(all: readonly PlayedBy[]): Finding[] {
  const seen = new Map<string, { count: number; message: string; first: string }>();
  let episodes = 0;
  for (const { player, episodes: played } of all) {
    for (const episode of played) {
      episodes++;
      const message = failureOf(episode);
      // who plays it well is asked for nothing else: that is a fault of the expert alone
      if (message === undefined || (player === "expert" && episode.threw !== undefined)) continue;
      const kind = message.replaceAll(/"[^"]*":?|[\d.]+|true|false/g, "…");
      const known = seen.get(kind);
      if (known) known.count++;
      else {
        const said = episode.actions.map((a) => JSON.stringify(a.slice(0, 40))).join(", ");
        const first = `the ${player} player in task "${episode.task.id}"${said && `, saying ${said}`}`;
        seen.set(kind, { count: 1, message, first });
      }
    }
  }
  return [...seen.values()].slice(0, 5).map(({ count, message, first }) => ({
    check: "episodes",
    severity: "error",
    problem: `${count} of ${counted(episodes, "episode")} failed (first: ${first}): ${message.replace(/\.$/, "")}.`,
    fix: "Episodes that fail are left out of every number.",
  }));
}

function endings(environment: Environment, all: readonly PlayedBy[]): Finding[] {
  const episodes = all.flatMap((played) => played.episodes).filter((e) => failureOf(e) === undefined);
  if (episodes.length === 0) return [];
  const ends = episodes.flatMap(({ trajectories }) => trajectories.map(({ end }) => end));
  const done = ends.filter((end) => end.kind === "done");
  if (done.length === 0) {
    return [
      {
        check: "endings",
        severity: "warning",
        problem: `None of ${episodes.length} episodes ended by itself; all were cut off at ${environment.limits.turns} turns.`,
        fix: 'Return `end` from act() once the task is over, such as { kind: "done", reason: "solved", success: true }, or raise limits.turns.',
      },
    ];
  }
  if (done.some(({ success }) => success !== undefined)) return [];
  return [
    {
      check: "endings",
      severity: "warning",
      problem: `None of ${done.length} episodes that ended said whether it was a success: success will be 0 %.`,
      fix: 'Return end: { kind: "done", reason, success: true or false } from act().',
    },
  ];
}

/** Fewest episodes from which constant rewards are no accident. */
const fewestForConstant = 8;

/** Rewards that say the opposite of success: what raises them makes the agent fail. */
function contradictions(ended: readonly RecordedEpisode[]): Finding[] {
  const good = ended.filter(hasSucceeded).map(rewardOf);
  const bad = ended.filter((e) => !hasSucceeded(e)).map(rewardOf);
  if (good.length < 2 || bad.length < 2 || Math.max(...good) >= mean(bad)) return [];
  const shown = (x: number): string => String(Number(x.toPrecision(3)));
  return [
    {
      check: "rewards",
      severity: "warning",
      problem: `Rewards contradict success: ${counted(good.length, "episode")} that succeeded earned ${shown(mean(good))} on average, and ${bad.length} that failed ${shown(mean(bad))}. Training raises the reward, and would make the agent fail.`,
      fix: "Check the sign of the rewards, and what act() calls a success.",
    },
  ];
}

function rewardFindings(all: readonly PlayedBy[]): Finding[] {
  const ended = all.flatMap(({ episodes }) => episodes).filter((e) => failureOf(e) === undefined);
  const rewards = ended.map(rewardOf);
  if (rewards.some((r) => r !== rewards[0])) return contradictions(ended);
  if (ended.length < fewestForConstant) return [];
  const paidAny = ended.some(({ steps }) =>
    steps.some(({ rewards: named = {} }) => Object.keys(named).length > 0),
  );
  // success alone can be what a method learns from
  if (!paidAny && new Set(ended.map(hasSucceeded)).size > 1) return [];
  if (paidAny && all.every(({ player }) => player === "random")) {
    return [
      {
        check: "rewards",
        severity: "warning",
        problem: `All ${ended.length} episodes of random play earned a reward of exactly ${rewards[0]}: nothing shows yet that good actions earn more.`,
        fix: "Add an `expert` that plays well, or let a model play with --model.",
      },
    ];
  }
  return [
    {
      check: "rewards",
      severity: "warning",
      problem: paidAny
        ? `All ${ended.length} episodes of ${all.map(({ player }) => player).join(", ")} play earned a reward of exactly ${rewards[0]}: nothing tells good actions from bad ones.`
        : `No step of ${ended.length} episodes paid a reward.`,
      fix: "Return named rewards from act(), such as rewards: { outcome: 1 }, that differ between good and bad actions.",
    },
  ];
}
