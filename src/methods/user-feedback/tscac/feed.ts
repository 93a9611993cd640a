/** A feed of clips: the clip watched longest is rarely liked. */
import { type Random, randomStream } from "../../../core/random.ts";
import type { Task } from "../../../core/types.ts";
import { alreadyOver, defineEnvironment, type Environment, type Episode } from "../../../env/environment.ts";

/** Settings of {@link feed}. */
export interface FeedOptions {
  /** Number of training situations; as many others are held out. Default 5. */
  readonly situations?: number;
  /** Clips to choose from, `c0`, `c1`… Default 8. */
  readonly clips?: number;
  /** Deviation of the time that one user watches a clip. Default 0.3. */
  readonly noise?: number;
  /** Default 1. */
  readonly seed?: number;
}

/** Effect of a clip in a situation: mean time watched, in minutes, and the probability of a like. */
export interface Reception {
  readonly watch: number;
  readonly like: number;
}

/** By clip. */
export const receptionOf = (task: Task): readonly Reception[] =>
  task.metadata.receptions as unknown as readonly Reception[];

/** Like probability from which a clip counts as liked. */
export const likedFrom = 0.05;

/** The clip that is watched longest among those that are liked. */
const bestOf = (receptions: readonly Reception[]): number =>
  receptions.reduce((best, { watch, like }, c) => {
    const before = receptions[best]!;
    return like >= likedFrom && (before.like < likedFrom || watch > before.watch) ? c : best;
  }, 0);

/**
 * In each situation one clip is shown. Its time `watch` is uniform in 0 … 1 over clips, with noise; a `like` is rare, 1 to
 * 10 %, and rarest, 1 %, for the clip that is watched longest. `outcome` is 1 for the clip watched longest among those
 * liked at 5 % or more.
 */
export function feed({ situations = 5, clips = 8, noise = 0.3, seed = 1 }: FeedOptions = {}): Environment {
  const sizes: Readonly<Record<string, number>> = { train: situations, test: situations };
  const words = Array.from({ length: clips }, (_, c) => `c${c}`);
  const taskAt = (split: string, index: number): Task => {
    const number = split === "train" ? index : situations + index;
    const random = randomStream(seed).split("feed", number);
    const drawn = words.map(() => ({ watch: random.next(), like: 0.01 + 0.09 * random.next() }));
    const longest = drawn.reduce((best, { watch }, c) => (watch > drawn[best]!.watch ? c : best), 0);
    // every situation has a liked clip, so that there is a best one
    const liked = (longest + 1) % clips;
    const receptions = drawn.map(({ watch, like }, c) => ({
      watch,
      like: c === longest ? 0.01 : c === liked ? 0.1 : like,
    }));
    return {
      id: `feed/${split}/${index}`,
      prompt: [{ role: "user", content: `s${number}` }],
      metadata: { index, receptions },
      seed: random.seed,
    };
  };
  const isBest = (task: Task, content: string): boolean =>
    words.indexOf(content.trim()) === bestOf(receptionOf(task));
  const start = (task: Task, random: Random): Episode => {
    let ended = false;
    return {
      observe: async () => ({
        role: "agent",
        observation: { messages: [], stateKey: task.id, legal: words },
      }),
      act: async ({ content }) => {
        if (ended) return alreadyOver;
        ended = true;
        const reception = receptionOf(task)[words.indexOf(content.trim())] ?? { watch: 0, like: 0 };
        const success = isBest(task, content);
        return {
          rewards: {
            watch: reception.watch + noise * random.split("watch").normal(),
            like: random.split("like").next() < reception.like ? 1 : 0,
            outcome: success ? 1 : 0,
          },
          end: { kind: "done", reason: success ? "watched and liked" : "watched", success },
        };
      },
    };
  };
  return defineEnvironment({
    name: "feed",
    summary: "choose clips that are watched long and still liked; the ones watched longest are not",
    abilities: new Set(["stateKey", "expert", "legal"] as const),
    roles: ["agent"],
    splits: Object.keys(sizes),
    limits: { turns: 1, actionTokens: 1 },
    vocabulary: () => [...words, ...Array.from({ length: 2 * situations }, (_, s) => `s${s}`)],
    tasks: (split) => Array.from({ length: sizes[split] ?? 0 }, (_, i) => taskAt(split, i)),
    start: async (task, random) => start(task, random),
    expert: (task) => words[bestOf(receptionOf(task))]!,
    flawed: (task) => {
      const watched = receptionOf(task).map(({ watch }) => watch);
      return words[watched.indexOf(Math.max(...watched))]!;
    },
    verify: async (task, { turns }) => ({
      outcome: isBest(task, turns.at(-1)?.action.content ?? "") ? 1 : 0,
    }),
  });
}
