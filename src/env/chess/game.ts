/** What chess environments share: the agent has white, a scripted opponent black, and a real rules library judges. */
import { Chess, type Move as Made, type PieceSymbol } from "chess.js";
import { type Random, randomStream } from "../../core/random.ts";
import type { Message, Task, Trajectory } from "../../core/types.ts";
import {
  alreadyOver,
  defineEnvironment,
  type Environment,
  type Episode,
  type Player,
  type Step,
} from "../environment.ts";
import {
  afterMove,
  type Board,
  bestMove,
  boardOf,
  legalMoves,
  type Move,
  squareAt,
  squareName,
} from "./search.ts";

/**
 * How black plays: any move, what gains most at once, two half-moves ahead; or by whom a move is asked for, in any notation
 * that is read: another engine, a chat model, a person. What is no legal move there is replaced by any one.
 */
export type Opponent = "random" | "greedy" | "search" | ((fen: string) => Promise<string>);

export interface ChessGameOptions {
  readonly name: string;
  readonly summary: string;
  readonly splits: readonly string[];
  readonly opponent: Opponent;
  /** Moves of the agent until the game is cut off, illegal ones among them. */
  readonly turns: number;
  /** Half-moves that the expert looks ahead. */
  readonly depth: number;
  /** Where games begin, white to move, in Forsyth–Edwards notation. */
  positions(split: string): readonly string[];
  readonly seed: number;
}

/** Share of the flawed player's moves that are any legal one. */
const noise = 0.25;

const illegal = "that is no legal move here";

const loss = "black takes your";
const pieceNames: Readonly<Record<PieceSymbol, string>> = {
  p: "pawn",
  n: "knight",
  b: "bishop",
  r: "rook",
  q: "queen",
  k: "king",
};

/**
 * Moves are named by their squares, `e2 e4`, with a fourth letter for what a pawn becomes other than a queen,
 * `a7 a8 n`; `e2e4` and the usual short notation, `Nf3`, are read as well. The agent sees black's last move and the board.
 * Rewards: `outcome` at the end, 1 for a mate, −1 for being mated, 0 for a draw or no end; `illegal`, −1 for what is no
 * legal move, which changes nothing and costs a turn. The text says that, and what black takes. The expert looks ahead;
 * every fourth move of the flawed player is any legal one, by chance, and it looks less far ahead.
 */
export function chessGame(options: ChessGameOptions): Environment {
  const { name, summary, splits, opponent, turns, depth, positions, seed } = options;

  function start(task: Task): Episode {
    const game = new Chess(String(task.metadata.fen));
    /** How often each position was on the board. */
    const seen = new Map([[placed(game.fen()), 1]]);
    let [turn, news, over] = [0, "", false];
    const isRepeated = (): boolean => {
      const key = placed(game.fen());
      seen.set(key, (seen.get(key) ?? 0) + 1);
      return seen.get(key)! >= 3;
    };
    /** The end of the game, if the last move made one. @param mover 1 for the agent. */
    const endAfter = (mover: 1 | -1): Step | undefined => {
      const repeated = isRepeated();
      if (game.isCheckmate()) return ended("mate", mover);
      if (game.isStalemate()) return ended("stalemate", 0);
      if (game.isInsufficientMaterial()) return ended("too few pieces", 0);
      if (game.isDrawByFiftyMoves()) return ended("fifty moves without progress", 0);
      return repeated ? ended("the same position three times", 0) : undefined;
    };
    const cut = (step: Step): Step => {
      over = step.end !== undefined || turn >= turns;
      if (step.end || !over) return step;
      return {
        ...step,
        rewards: { ...step.rewards, outcome: 0 },
        end: { kind: "truncated", limit: "turns", at: turn },
      };
    };
    return {
      observe: async () => ({
        role: "agent",
        observation: {
          messages: turn === 0 ? [] : [{ role: "user", content: news }],
          stateKey: `${task.id} ${game.fen()} ${seen.get(placed(game.fen())) ?? 0}`,
          // a long list that few ask for
          get legal() {
            return legalIn(game);
          },
        },
      }),
      async act({ content }) {
        if (over) return alreadyOver;
        turn++;
        if (!played(game, content)) {
          news = `${illegal} .${boardText(game.fen())}`;
          return cut({ rewards: { illegal: -1 }, text: illegal });
        }
        const own = endAfter(1);
        if (own) return cut(own);
        const reply = await replyTo(game, opponent, randomStream(task.seed).split("opponent", game.fen()));
        news = `black plays ${named(reply)}${game.inCheck() ? " check" : ""} .${boardText(game.fen())}`;
        const lost = reply.captured && { text: `${loss} ${pieceNames[reply.captured]}` };
        return cut({ ...endAfter(-1), ...lost });
      },
    };
  }

  return defineEnvironment({
    name,
    summary,
    // another opponent may answer differently each time
    abilities: new Set([
      "stateKey",
      "expert",
      "legal",
      ...(typeof opponent === "function" ? [] : (["replay"] as const)),
    ] as const),
    roles: ["agent"],
    splits,
    limits: { turns, actionTokens: 4 },
    tasks: (split) =>
      positions(split).map((fen, i) => ({
        id: `${name}/${split}/${i}`,
        prompt: [{ role: "user", content: `you have white .${boardText(fen)}` }],
        metadata: { fen },
        seed: randomStream(seed).split(name, split, i).seed,
      })),
    start: async (task) => start(task),
    vocabulary: () => [
      "you have white . black plays check",
      illegal,
      loss,
      ...Object.values(pieceNames),
      ". \n + p n b r q k P N B R Q K a b c d e f g h",
      ...[1, 2, 3, 4, 5, 6, 7, 8].flatMap((row) => [
        `${row}`,
        ...[..."abcdefgh"].map((column) => `${column}${row}`),
      ]),
    ],
    expert: expertPlayer(depth),
    flawed: flawedPlayer,
    async verify(task: Task, trajectory: Trajectory) {
      // who was asked for moves would be asked again: what was paid is all that is known
      if (typeof opponent === "function") return { outcome: trajectory.turns.at(-1)?.rewards.outcome ?? 0 };
      const episode = start(task);
      for (const { action } of trajectory.turns) {
        const { end, rewards } = await episode.act({ content: action.content, stop: "eos" });
        if (end) return { outcome: rewards?.outcome ?? 0 };
      }
      return { outcome: 0 };
    },
  });
}

/** Looks so many half-moves ahead. */
const expertPlayer =
  (depth: number): Player =>
  (_task, conversation) => {
    const board = boardIn(conversation);
    // what was on the board before leads round in circles
    const before = new Set(
      conversation.flatMap((m, i) => {
        const made = m.role === "assistant" ? moveIn(m.content) : undefined;
        return made ? [afterMove(boardIn(conversation.slice(0, i)), made)] : [];
      }),
    );
    const move = bestMove(board, 1, depth, (one) => before.has(afterMove(board, one)));
    return move ? nameOf(move) : "";
  };

const flawedPlayer: Player = (_task, conversation, random) => {
  const board = boardIn(conversation);
  const moves = legalMoves(board, 1);
  const move = random.next() < noise ? moves[random.below(moves.length)] : bestMove(board, 1, 2);
  return move ? nameOf(move) : "";
};

const ended = (reason: string, winner: 1 | 0 | -1): Step => ({
  rewards: { outcome: winner },
  end: { kind: "done", reason, success: winner === 1 },
});

/** What makes a position the same: pieces, side, castling, taking in passing. */
const placed = (fen: string): string => fen.split(" ").slice(0, 4).join(" ");

const nameOf = ({ from, to }: Move): string => `${squareName(from)} ${squareName(to)}`;
const named = ({ from, to, promotion }: { from: string; to: string; promotion?: string }): string =>
  `${from} ${to}${promotion === undefined || promotion === "q" ? "" : ` ${promotion}`}`;

/** The board that was shown last. */
const boardIn = (conversation: readonly Message[]): Board =>
  boardOf(piecesIn(conversation.findLast((m) => m.content.includes("\n8 "))?.content ?? ""));

/** Eight rows as in print, each with its number, and the letters of the columns below. */
function boardText(fen: string): string {
  const rows = (fen.split(" ")[0] ?? "")
    .split("/")
    .map((row, i) => `${8 - i} ${[...row.replace(/\d/g, (n) => ".".repeat(Number(n)))].join(" ")}`);
  return ["", ...rows, "+ a b c d e f g h"].join("\n");
}

/** The pieces of a board in print, without what is said before it and the letters below. */
const piecesIn = (text: string): string =>
  text
    .split("\n")
    .filter((line) => /^[1-8] /.test(line))
    .join("");

/** A move named by its squares. */
function moveIn(text: string): Move | undefined {
  const [from, to] = text.split(" ").map(squareAt);
  return from === undefined || to === undefined ? undefined : { from, to };
}

/** Makes a move on the board, if it is one. */
function played(game: Chess, content: string): Made | undefined {
  const text = content.trim();
  const squares = /^([a-h][1-8]) ?([a-h][1-8]) ?([qrbn])?$/.exec(text.toLowerCase());
  if (!squares && !/^[KQRBNa-hO][\w=+#-]{1,6}$/.test(text)) return undefined;
  try {
    return game.move(squares ? { from: squares[1]!, to: squares[2]!, promotion: squares[3] ?? "q" } : text);
  } catch {
    return undefined;
  }
}

/** All that may be played. Asking for each square is much faster than asking for moves that say where they come from. */
function legalIn(game: Chess): string[] {
  const own = game
    .board()
    .flatMap((row) => row.flatMap((piece) => (piece?.color === game.turn() ? piece : [])));
  return own.flatMap(({ square }) =>
    game.moves({ square }).map((text) => {
      const castled = /^O-O(-O)?/.exec(text);
      const promotion = /=([QRBN])/.exec(text)?.[1]?.toLowerCase();
      const to = castled
        ? `${castled[1] === undefined ? "g" : "c"}${square[1]}`
        : (/([a-h][1-8])(?:=[QRBN])?[+#]?$/.exec(text)?.[1] ?? "");
      return named({ from: square, to, ...(promotion && { promotion }) });
    }),
  );
}

/** Plays a move of black. */
async function replyTo(game: Chess, opponent: Opponent, random: Random): Promise<Made> {
  const asked = typeof opponent === "function" ? played(game, await opponent(game.fen())) : undefined;
  if (asked) return asked;
  const board = boardOf(piecesIn(boardText(game.fen())));
  const moves = legalMoves(board, -1);
  const depth = { random: 0, greedy: 1, search: 2 }[typeof opponent === "string" ? opponent : "random"];
  const move = depth === 0 ? moves[random.below(moves.length)] : bestMove(board, -1, depth);
  // the search knows no taking in passing, which may be all there is
  return played(game, move ? nameOf(move) : "") ?? game.move(game.moves()[0]!);
}
