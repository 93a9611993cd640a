/** Won chess endings: white has a king and heavy pieces, black a bare king. */
import { Chess } from "chess.js";
import { type Random, randomStream, shuffled } from "../../core/random.ts";
import { demand } from "../demand.ts";
import type { Environment } from "../environment.ts";
import { chessGame, type Opponent } from "./game.ts";

/** Settings of {@link chessEndgames}. */
export interface ChessEndgamesOptions {
  /** Default "search". */
  readonly opponent?: Opponent;
  /** White's pieces beside the king, one kind of ending a text, a queen or a rook in each. Default `["Q", "R", "RR", "QR"]`. */
  readonly pieces?: readonly string[];
  /** Moves of the agent until the game is cut off. Default 50. */
  readonly turns?: number;
  /** Half-moves that the expert looks ahead. Default 3. */
  readonly depth?: number;
  /** Where the positions come from. Default 1. */
  readonly seed?: number;
}

const sizes: Readonly<Record<string, number>> = { train: 24, validation: 4, test: 8 };

/**
 * Mate a bare king before the fifty moves are over, without stalemate. See {@link chessGame} for moves, rewards and players.
 * Paper: "LMRL Gym: Benchmarks for Multi-Turn Reinforcement Learning with Language Models".
 * @throws WhetstoneError `option.range` for pieces that cannot mate a king.
 */
export function chessEndgames(options: ChessEndgamesOptions = {}): Environment {
  const { opponent = "search", pieces = ["Q", "R", "RR", "QR"], turns = 50, depth = 3, seed = 1 } = options;
  const canMate = pieces.length > 0 && pieces.every((kind) => /^[QRBN]*[QR][QRBN]*$/.test(kind));
  demand(canMate, "chessEndgames: pieces", pieces, "letters of Q, R, B and N, a queen or a rook in each");
  return chessGame({
    name: "chess-endgames",
    summary: "mate a bare king with a queen, a rook or two of them, in fifty moves",
    splits: Object.keys(sizes),
    opponent,
    turns,
    depth,
    seed,
    positions: (split) =>
      Array.from({ length: sizes[split] ?? 0 }, (_, i) =>
        position(
          ["K", "k", ...(pieces[i % pieces.length] ?? "")],
          randomStream(seed).split("ending", split, i),
        ),
      ),
  });
}

/** Pieces on drawn squares, white to move, black not in check and nothing decided; drawn again until it is so. */
function position(pieces: readonly string[], random: Random): string {
  for (let tried = 0; ; tried++) {
    const squares = shuffled([...Array(64).keys()], random.split(tried));
    const at = new Map(pieces.map((piece, i) => [squares[i]!, piece]));
    const rows = Array.from({ length: 8 }, (_, row) =>
      Array.from({ length: 8 }, (_unused, column) => at.get(row * 8 + column) ?? 1).join(""),
    );
    // digits of empty squares are added up: "1111k111" is "4k3"
    const placed = rows.join("/").replace(/1+/g, (ones) => String(ones.length));
    const [white, black] = ["w", "b"].map((side) => new Chess(`${placed} ${side} - - 0 1`));
    if (!white!.isGameOver() && !black!.inCheck() && !white!.inCheck()) return white!.fen();
  }
}
