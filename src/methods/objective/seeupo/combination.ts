/** Three moves in a row: one first move has a small certain prize, the right combination a large one. */
import { randomStream, shuffled } from "../../../core/random.ts";
import type { Task } from "../../../core/types.ts";
import { alreadyOver, defineEnvironment, type Environment, type Episode } from "../../../env/environment.ts";

/** Settings of {@link combination}. */
export interface CombinationOptions {
  /** Number of training games; as many others are held out. Default 12. */
  readonly games?: number;
  /** Moves to choose from at each turn, at least 3. Default 5. */
  readonly moves?: number;
  /** Default 1. */
  readonly seed?: number;
}

/** The hidden values of a game, from its metadata. */
interface Game {
  /** The right moves, in order. */
  readonly right: readonly string[];
  /** The first move with the certain prize. */
  readonly sure: string;
  /** Prizes of the other first moves. */
  readonly pays: Readonly<Record<string, number>>;
}

const gameOf = (task: Task): Game => task.metadata.game as unknown as Game;

const turns = 3;
const surePrize = 0.3;

/** Prize of three moves, in [0, 1]. */
export function prizeOf(task: Task, moves: readonly string[]): number {
  const { right, sure, pays } = gameOf(task);
  const [first = "", second, third] = moves;
  if (first === sure) return surePrize;
  if (first !== right[0]) return Object.hasOwn(pays, first) ? pays[first]! : 0;
  return second !== right[1] ? 0 : third === right[2] ? 1 : 0.1;
}

/**
 * Every game is one word, `g7`, and every move is `m0`, `m1`…; after three of them the prize is paid as `outcome`.
 *
 * | first move | prize |
 * | --- | --- |
 * | the sure one | 0.3, whatever follows |
 * | the right one | 1 with the right second and third move, 0.1 with the right second one alone, else 0 |
 * | any other | 0.1 to 0.3, whatever follows |
 *
 * The value of the right first move depends on the later moves. An invalid move ends the game without a prize.
 */
export function combination(options: CombinationOptions = {}): Environment {
  const { games = 12, moves: count = 5, seed = 1 } = options;
  const moves = Array.from({ length: count }, (_, i) => `m${i}`);
  const sizes: Readonly<Record<string, number>> = { train: games, test: games };

  function taskAt(split: string, index: number): Task {
    const number = split === "train" ? index : games + index;
    const stream = randomStream(seed).split("combination", number);
    const [first, sure, ...others] = shuffled(moves, stream.split("first"));
    const later = Array.from({ length: turns - 1 }, () => moves[stream.below(count)]!);
    const pays = Object.fromEntries(others.map((move) => [move, 0.1 + 0.2 * stream.split(move).next()]));
    return {
      id: `combination/${split}/${index}`,
      prompt: [{ role: "user", content: `g${number}` }],
      metadata: { game: { right: [first!, ...later], sure: sure!, pays } },
      seed: stream.seed,
    };
  }

  function start(task: Task): Episode {
    let made: readonly string[] = [];
    let ended = false;
    return {
      observe: async () => ({
        role: "agent",
        observation: {
          messages: made.length === 0 ? [] : [{ role: "user", content: "next" }],
          stateKey: [task.id, ...made].join(" "),
          legal: moves,
        },
      }),
      act: async ({ content }) => {
        if (ended) return alreadyOver;
        const move = content.trim();
        made = [...made, move];
        const known = moves.includes(move);
        ended = !known || made.length === turns;
        if (!known) {
          return { rewards: { outcome: 0 }, end: { kind: "done", reason: "no such move", success: false } };
        }
        if (!ended) return {};
        const outcome = prizeOf(task, made);
        return { rewards: { outcome }, end: { kind: "done", reason: "played", success: outcome === 1 } };
      },
    };
  }

  return defineEnvironment({
    name: "combination",
    summary: "three moves in a row: a small sure prize, or a large one for the right combination",
    abilities: new Set(["replay", "stateKey", "expert", "legal"] as const),
    roles: ["agent"],
    splits: Object.keys(sizes),
    limits: { turns, actionTokens: 1 },
    vocabulary: () => [...moves, "next", ...Array.from({ length: 2 * games }, (_, i) => `g${i}`)],
    tasks: (split) => Array.from({ length: sizes[split] ?? 0 }, (_, i) => taskAt(split, i)),
    start: async (task) => start(task),
    async verify(task, trajectory) {
      const made = trajectory.turns.map((turn) => turn.action.content.trim());
      return {
        outcome: made.length === turns && made.every((m) => moves.includes(m)) ? prizeOf(task, made) : 0,
      };
    },
    expert: (task, conversation) =>
      gameOf(task).right[conversation.filter((m) => m.role === "assistant").length]!,
  });
}
