/** Two roads: one has a constant path, the other a path that changes daily and is revealed only afterwards. */
import { randomStream } from "../../../core/random.ts";
import type { Task } from "../../../core/types.ts";
import type { Environment } from "../../../env/environment.ts";
import { oneReply } from "../../../env/oneReply.ts";

/** Settings of {@link crossroads}. */
export interface CrossroadsOptions {
  /** Number of training days; as many others are held out. Default 64. */
  readonly days?: number;
  /** Steps of either way. Default 5. */
  readonly steps?: number;
  /** Directions that a step can take. Default 4. */
  readonly directions?: number;
  /** Default 1. */
  readonly seed?: number;
}

/** The roads: the first one never changes. */
export const roads = ["ridge", "valley"] as const;

/** The way along each road on a task's day. */
export const waysOf = (task: Task): Readonly<Record<string, readonly string[]>> =>
  task.metadata.ways as Readonly<Record<string, readonly string[]>>;

/**
 * The prompt of every day is `walk`; the answer is a road and the steps along it, "ridge d2 d0 d3". The reward is 1 if
 * every step is right. Afterwards the right steps of the chosen road are shown, "way d2 d0 d1". The valley's path is drawn
 * anew each day, so this hindsight cannot be predicted.
 */
export function crossroads(options: CrossroadsOptions = {}): Environment {
  const { days = 64, steps = 5, directions = 4, seed = 1 } = options;
  const words = Array.from({ length: directions }, (_, i) => `d${i}`);
  const way = (...key: readonly (string | number)[]): string[] => {
    const random = randomStream(seed).split(...key);
    return Array.from({ length: steps }, () => words[random.below(directions)]!);
  };
  return oneReply({
    name: "crossroads",
    summary:
      "take one of two roads; the way along one is always the same, along the other nobody can know it",
    questions: days,
    length: steps + 1,
    words: [...roads, ...words, "way"],
    seed,
    ask: () => "walk",
    metadata: (day) => ({ ways: { ridge: way("ridge"), valley: way("valley", day) } }),
    grade: (task, reply) => {
      const [road = "", ...taken] = reply.split(/\s+/);
      const right = roads.some((name) => name === road) ? waysOf(task)[road] : undefined;
      const success = right !== undefined && right.join(" ") === taken.join(" ");
      const text = right && `way ${right.join(" ")}`;
      return { rewards: { outcome: success ? 1 : 0 }, success, ...(text !== undefined && { text }) };
    },
    expert: (task) => `ridge ${waysOf(task).ridge!.join(" ")}`,
  });
}
