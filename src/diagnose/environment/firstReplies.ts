/** What a model does in an environment before it is trained, and whether a method that compares replies would learn from that. */
import { wilsonInterval } from "../../common/statistics/statistics.ts";
import type { Finding } from "../../core/finding.ts";
import type { Interval } from "../../core/interval.ts";
import type { Model } from "../../core/model.ts";
import type { Random } from "../../core/random.ts";
import { paid, succeeded, type Task, type Trajectory } from "../../core/types.ts";
import type { Environment } from "../../env/environment.ts";
import { modelActor } from "../../rollout/actor.ts";
import { playEpisode } from "../../rollout/episode.ts";

export interface FirstRepliesOptions {
  readonly environment: Environment;
  readonly model: Pick<Model, "id" | "codec" | "contextTokens" | "sample">;
  /** Each is played as one group. */
  readonly tasks: readonly Task[];
  /** Attempts at each task. */
  readonly groupSize: number;
  readonly temperature: number;
  readonly random: Random;
  readonly onEpisode: () => void;
  /** Settles when time is up: what is under way then is left out. The caller ends the model. */
  readonly late: Promise<void>;
}

export interface FirstReplies {
  /** One episode of each task, as far as time allowed. */
  readonly shown: readonly (readonly Trajectory[])[];
  readonly groupSize: number;
  /** Groups of which every episode ended. */
  readonly groups: number;
  /** Of them, those in which rewards differ, and those in which some episodes succeed and others do not. */
  readonly differing: number;
  readonly mixed: number;
  /** Over all episodes that ended; failed ones are left out. */
  readonly success: Interval;
}

/** First one attempt at each task, so that there is something to see soon; then the others. */
export async function firstReplies({ tasks, ...o }: FirstRepliesOptions): Promise<FirstReplies> {
  const { groupSize, random } = o;
  const groups = tasks.map((): Trajectory[][] => []);
  const play = async (at: number, attempt: number): Promise<void> => {
    const task = tasks[at]!;
    const played = await playEpisode({
      environment: o.environment,
      task,
      id: `${task.id}/${attempt}`,
      actor: () => modelActor(o.model),
      random: random.split("first replies", task.id, attempt),
      temperature: o.temperature,
    });
    groups[at]!.push([...played]);
    o.onEpisode();
  };
  const playAttempts = async (attempts: readonly number[]): Promise<void> => {
    await Promise.all(tasks.flatMap((_, at) => attempts.map((attempt) => play(at, attempt))));
  };
  const all = playAttempts([0]).then(() =>
    playAttempts(Array.from({ length: groupSize - 1 }, (_, i) => i + 1)),
  );
  await Promise.race([all, o.late]);
  all.catch(() => undefined); // the model is ended under what time was too short for
  return summaryOf(groups, groupSize);
}

const hasFailed = (played: readonly Trajectory[]): boolean => played.some(({ end }) => end.kind === "failed");
const rewardOf = (played: readonly Trajectory[]): number => played.reduce((sum, t) => sum + paid(t), 0);
const hasSucceeded = (played: readonly Trajectory[]): boolean => played.every(succeeded);

function summaryOf(groups: readonly (readonly Trajectory[])[][], groupSize: number): FirstReplies {
  const whole = groups
    .filter((group) => group.length === groupSize)
    .map((g) => g.filter((e) => !hasFailed(e)));
  const differs = <T>(of: (played: readonly Trajectory[]) => T): number =>
    whole.filter((group) => new Set(group.map(of)).size > 1).length;
  const ended = groups.flat().filter((e) => !hasFailed(e));
  return {
    shown: groups.flatMap((group) => group.slice(0, 1)),
    groupSize,
    groups: whole.length,
    differing: differs(rewardOf),
    mixed: differs(hasSucceeded),
    success: wilsonInterval(ended.filter(hasSucceeded).length, ended.length),
  };
}

/** A warning where no group tells a better reply from a worse one. */
export function signalFindings({ groups, groupSize, differing, success }: FirstReplies): Finding[] {
  if (groups === 0 || differing > 0) return [];
  const solved = success.mean > 0.5;
  return [
    {
      check: "signal",
      severity: "warning",
      problem: `In none of ${groups} groups of ${groupSize} replies do rewards differ: methods that compare the replies to a task learn nothing from them.`,
      fix: solved
        ? "Take harder tasks: the model solves these."
        : "Take easier tasks, say in the prompt what a good reply looks like, pay for parts of the answer, or imitate demonstrations first.",
    },
  ];
}
