/** Games as environments: every role a policy in training, one against a reference player where success is measured. */
import { randomStream } from "../../core/random.ts";
import type { Message, Task, Trajectory } from "../../core/types.ts";
import {
  alreadyOver,
  defineEnvironment,
  type Environment,
  type Episode,
  type Player,
  type Step,
} from "../environment.ts";
import { forfeited, type Game, newsFor, opening } from "./game.ts";
import { referencePlay } from "./solve.ts";
import { type GameTree, type Strategy, treeOf, uniformStrategy } from "./tree.ts";

/** An environment that is a game, which can be solved and in which policies can be ranked. */
export interface GameEnvironment extends Environment {
  readonly game: Game;
  /** Made at the first call. */
  tree(): GameTree;
  /** How its reference player plays: see `referencePlay`. Made at the first call. */
  reference(): Strategy;
}

/** Whether an environment is a game. */
export const isGame = (environment: Environment): environment is GameEnvironment =>
  "game" in environment && "tree" in environment;

/** Settings of {@link gameEnvironment}. */
export interface GameOptions {
  /** Who plays the other roles in the tasks of "test": well, or any legal move. Default "reference". */
  readonly opponent?: "reference" | "random";
  /** Fewest tasks of "train"; deals are repeated. Default 8. */
  readonly tasks?: number;
  /** Fewest tasks of "test" for each role. Default 48. */
  readonly tests?: number;
}

const once = <T>(make: () => T): (() => T) => {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
};

/** A player that draws its moves from a strategy; any legal move where the conversation is none of the game's. */
export const strategyPlayer =
  (tree: () => GameTree, strategy: () => Strategy): Player =>
  (_task, conversation, random, legal = []) => {
    const set = tree().find(conversation);
    const moves = set === undefined ? legal : tree().sets[set]!.legal;
    const chances = set === undefined ? legal.map(() => 1 / legal.length) : [...strategy()[set]!];
    let left = random.next();
    const move = moves.find((_, i) => (left -= chances[i]!) < 0);
    return move ?? moves[chances.findLastIndex((p) => p > 0)] ?? "";
  };

/**
 * Every role acts in the tasks of "train", one for each deal: the payoffs are the reward `outcome`, paid to every role at the end, and
 * success means that every reply was a move. In the tasks of "test", the policy plays one role against a scripted opponent, each deal
 * from each role; success means a payoff of 0 or more. A reply that is no move ends the game with the game's forfeit.
 *
 * The expert is the reference player, and the flawed player makes any legal move; both draw their moves at random.
 */
export function gameEnvironment<S>(of: Game<S>, options: GameOptions = {}): GameEnvironment {
  const game = of as Game; // states are the game's own affair
  const { opponent = "reference", tasks: fewest = 8, tests = 48 } = options;
  const tree = once(() => treeOf(game));
  const reference = once(() => referencePlay(tree()));
  const anything = once(() => uniformStrategy(tree()));
  const opposing = strategyPlayer(tree, opponent === "reference" ? reference : anything);
  const deals = game.deals.length;

  const taskAt = (split: string, index: number, more: Readonly<Record<string, string>>): Task => ({
    id: `${game.name}/${split}/${index}`,
    prompt: opening(game),
    metadata: { deal: index % deals, ...more },
    seed: randomStream(game.name).split(split, index).seed,
  });
  const rounds = (least: number): number => deals * Math.ceil(least / deals);
  const tasks = (split: string): readonly Task[] => {
    if (split === "train") return Array.from({ length: rounds(fewest) }, (_, i) => taskAt(split, i, {}));
    if (split !== "test") return [];
    return game.roles.flatMap((seat, s) =>
      Array.from({ length: rounds(tests) }, (_, i) =>
        taskAt(split, s * rounds(tests) + i, { seat, against: opponent }),
      ),
    );
  };

  return defineEnvironment({
    name: game.name,
    summary: game.summary,
    game,
    tree,
    reference,
    abilities: new Set(["replay", "stateKey", "legal"] as const),
    roles: [...game.roles],
    splits: ["train", "test"],
    limits: { turns: game.turns, actionTokens: game.moveTokens },
    tasks,
    start: async (task: Task) => episodeOf(game, task, opposing),
    vocabulary: once(() => wordsOf(game, tree())),
    expert: strategyPlayer(tree, reference),
    flawed: strategyPlayer(tree, anything),
    /** Payoffs depend on what the other roles did, so `verify` returns the recorded one. */
    verify: async (_task: Task, { turns }: Trajectory) => ({ outcome: turns.at(-1)?.rewards.outcome ?? 0 }),
  });
}

const usage = "not a move here ; moves :";

function wordsOf(game: Game, { sets }: GameTree): readonly string[] {
  const said = sets.flatMap(({ conversation, legal }) => [...conversation.map((m) => m.content), ...legal]);
  return [...new Set([game.rules, usage, ",", ...said].flatMap((text) => text.split(/\s+/)))];
}

function episodeOf(game: Game, task: Task, opposing: Player): Episode {
  let state: unknown = game.deals[Number(task.metadata.deal)];
  let [moves, over] = [0, false];
  const known = game.roles.map(() => 0);
  const said = game.roles.map((): readonly Message[] => opening(game));
  const { seat } = task.metadata;

  /** What the acting role reads next. */
  function told(role: number): readonly Message[] {
    const { messages, lines } = newsFor(game, state, role, known[role]!);
    known[role] = lines;
    said[role] = game.sees === "state" ? messages : [...said[role]!, ...messages];
    return messages;
  }
  function make(role: number, move: string): void {
    said[role] = [...said[role]!, { role: "assistant", content: move }];
    state = game.after(state, move);
    moves++;
  }
  /** Lets the opponent move until it is the policy's turn. */
  function opponentMoves(): void {
    for (;;) {
      const role = game.acting(state);
      if (role === undefined || seat === undefined || game.roles[role] === seat) return;
      told(role);
      const random = randomStream(task.seed).split("opponent", moves);
      make(role, opposing(task, said[role]!, random, game.legal(state)));
    }
  }
  function ending(payoffs: readonly number[], role: number, reason: string, legal: boolean): Step {
    const own = payoffs[game.roles.indexOf(String(seat))];
    const success = legal && (own === undefined || own >= 0);
    const others = game.roles.flatMap((name, i) =>
      i === role ? [] : [[name, { outcome: payoffs[i]! }] as const],
    );
    return {
      rewards: { outcome: payoffs[role]! },
      ...(seat === undefined ? { otherRewards: Object.fromEntries(others) } : {}),
      end: { kind: "done", reason, success },
    };
  }

  return {
    async observe() {
      opponentMoves();
      const role = game.acting(state)!;
      const messages = told(role);
      return {
        role: game.roles[role]!,
        observation: {
          messages,
          ...(game.sees === "state" ? { whole: true } : {}),
          stateKey: said[role]!.map((m) => m.content).join("\n"),
          legal: game.legal(state),
        },
      };
    },
    async act({ content }) {
      const role = game.acting(state);
      if (role === undefined || over) return alreadyOver;
      const legal = game.legal(state);
      const move = content.trim().replace(/\s+/g, " ");
      if (!legal.includes(move)) {
        over = true;
        const step = ending(forfeited(game, role), role, "not a move", false);
        return { ...step, text: `${usage} ${legal.join(" , ")}` };
      }
      make(role, move);
      opponentMoves();
      return game.acting(state) === undefined ? ending(game.payoffs(state), role, "played out", true) : {};
    },
  };
}
