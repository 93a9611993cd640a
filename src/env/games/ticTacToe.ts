/** Tic-tac-toe on a board of nine numbered cells. */
import type { Game } from "./game.ts";

interface Board {
  /** "x", "o" or "", nine cells. */
  readonly cells: readonly string[];
}

const lines = [
  [0, 1, 2],
  [3, 4, 5],
  [6, 7, 8],
  [0, 3, 6],
  [1, 4, 7],
  [2, 5, 8],
  [0, 4, 8],
  [2, 4, 6],
] as const;

const winner = (cells: readonly string[]): string | undefined => {
  const line = lines.find(([a, b, c]) => cells[a] !== "" && cells[a] === cells[b] && cells[a] === cells[c]);
  return line && cells[line[0]];
};
const filled = (cells: readonly string[]): number => cells.filter((cell) => cell !== "").length;

/** Moves are cells, 1 to 9, row by row. Payoffs 1, 0 and −1; with best play nobody wins. 5478 positions can occur. */
export const ticTacToe: Game<Board> = {
  name: "tic-tac-toe",
  summary: "three in a row on nine numbered cells; solved exactly",
  rules: "tic-tac-toe : choose the number of a free cell . three in a row win",
  roles: ["x", "o"],
  sum: "zero",
  sees: "state",
  deals: [{ cells: Array.from({ length: 9 }, () => "") }],
  forfeit: 1,
  turns: 9,
  moveTokens: 1,
  acting: ({ cells }) => (winner(cells) || filled(cells) === 9 ? undefined : filled(cells) % 2),
  legal: ({ cells }) => cells.flatMap((cell, i) => (cell === "" ? [String(i + 1)] : [])),
  after: ({ cells }, move) => ({ cells: cells.with(Number(move) - 1, filled(cells) % 2 === 0 ? "x" : "o") }),
  payoffs({ cells }) {
    const who = winner(cells);
    return who === undefined ? [0, 0] : who === "x" ? [1, -1] : [-1, 1];
  },
  told: ({ cells }) => [
    [0, 3, 6]
      .map((row) =>
        cells
          .slice(row, row + 3)
          .map((cell, i) => cell || String(row + i + 1))
          .join(" "),
      )
      .join(" / "),
  ],
};
