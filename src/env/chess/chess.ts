/** Chess against a scripted opponent, from openings of a few moves. */

import { Chess } from "chess.js";
import { randomStream } from "../../core/random.ts";
import type { Environment } from "../environment.ts";
import { chessGame, type Opponent } from "./game.ts";

/** Settings of {@link chess}. */
export interface ChessOptions {
  /** Default "greedy". */
  readonly opponent?: Opponent;
  /** Openings that are trained; half as many are tested on, a quarter validate. Default 8. */
  readonly openings?: number;
  /** Moves of the agent until the game is cut off. Default 80. */
  readonly turns?: number;
  /** Half-moves that the expert looks ahead; against "search", which looks as far, 2 are too few. Default 2. */
  readonly depth?: number;
  /** Which openings, and what a random opponent plays. Default 1. */
  readonly seed?: number;
}

/**
 * A whole game with white, after two drawn moves of each side. See {@link chessGame} for moves, rewards and players.
 * Paper: "LMRL Gym: Benchmarks for Multi-Turn Reinforcement Learning with Language Models".
 */
export function chess(options: ChessOptions = {}): Environment {
  const { opponent = "greedy", openings = 8, turns = 80, depth = 2, seed = 1 } = options;
  const sizes: Readonly<Record<string, number>> = {
    train: openings,
    validation: Math.ceil(openings / 4),
    test: Math.ceil(openings / 2),
  };
  return chessGame({
    name: "chess",
    summary: "play chess with white against a scripted opponent",
    splits: Object.keys(sizes),
    opponent,
    turns,
    depth,
    seed,
    positions: (split) =>
      Array.from({ length: sizes[split] ?? 0 }, (_, i) => {
        const random = randomStream(seed).split("opening", split, i);
        const game = new Chess();
        for (let ply = 0; ply < 4; ply++) {
          const moves = game.moves();
          game.move(moves[random.below(moves.length)]!);
        }
        return game.fen();
      }),
  });
}
