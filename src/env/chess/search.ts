/**
 * A small chess player: looks a few moves ahead on a board of its own. It knows neither castling nor taking in passing,
 * which it never plays; what is legal is for the rules of the game to say, see `chessGame`.
 */

/** Pieces by square, row × 16 + column, row 0 the eighth rank; 0 empty, 1 to 6 pawn to king, black ones negative. */
export type Board = Int8Array;
export type Side = 1 | -1;

/** From one square to another; a pawn that arrives becomes a queen. */
export interface Move {
  readonly from: number;
  readonly to: number;
}

const letters = ".pnbrqk";
export const [pawn, knight, bishop, rook, queen, king] = [1, 2, 3, 4, 5, 6] as const;

/** In hundredths of a pawn, by piece. */
const worth = [0, 100, 320, 330, 500, 900, 0];
const won = 1_000_000;

const straight = [-16, 1, 16, -1];
const diagonal = [-17, -15, 15, 17];
const jumps = [-33, -31, -18, -14, 14, 18, 31, 33];
/** Directions by piece, none for pawns. */
const ways = [[], [], jumps, diagonal, straight, [...straight, ...diagonal], [...straight, ...diagonal]];
const slides = (piece: number): boolean => piece >= bishop && piece <= queen;
const onBoard = (square: number): boolean => (square & 0x88) === 0;

/** Eight rows of eight letters, upper case for white, "." for an empty square; anything else in between is left out. */
export function boardOf(text: string): Board {
  const board = new Int8Array(128);
  [...text.replace(/[^.pnbrqkPNBRQK]/g, "")].slice(0, 64).forEach((letter, i) => {
    const piece = letters.indexOf(letter.toLowerCase());
    board[(i >> 3) * 16 + (i & 7)] = letter === letter.toLowerCase() ? -piece : piece;
  });
  return board;
}

/** "e4" and back. */
export const squareName = (square: number): string => `${"abcdefgh"[square & 7]}${8 - (square >> 4)}`;

export function squareAt(name: string): number | undefined {
  const [, column, row] = /^([a-h])([1-8])$/.exec(name) ?? [];
  return column === undefined ? undefined : (8 - Number(row)) * 16 + "abcdefgh".indexOf(column);
}

function isAttacked(board: Board, square: number, by: Side): boolean {
  for (const d of jumps) if (onBoard(square + d) && board[square + d] === by * knight) return true;
  for (const side of [-1, 1]) {
    const from = square + by * 16 + side;
    if (onBoard(from) && board[from] === by * pawn) return true;
  }
  for (const [lines, slider] of [
    [straight, rook],
    [diagonal, bishop],
  ] as const) {
    for (const d of lines) {
      let to = square + d;
      if (onBoard(to) && board[to] === by * king) return true;
      while (onBoard(to) && board[to] === 0) to += d;
      if (onBoard(to) && (board[to] === by * slider || board[to] === by * queen)) return true;
    }
  }
  return false;
}

/** Whether the king of a side is attacked. A board without that king is in no check. */
function inCheck(board: Board, side: Side): boolean {
  const at = board.indexOf(side * king);
  return at >= 0 && isAttacked(board, at, side === 1 ? -1 : 1);
}

/** Moves by the way pieces move, also those that leave the king attacked. */
function reachable(board: Board, side: Side): Move[] {
  const moves: Move[] = [];
  for (let from = 0; from < 128; from++) {
    if (!onBoard(from) || board[from]! * side <= 0) continue;
    const piece = board[from]! * side;
    if (piece === pawn) {
      const ahead = from - 16 * side;
      if (onBoard(ahead) && board[ahead] === 0) {
        moves.push({ from, to: ahead });
        const home = from >> 4 === (side === 1 ? 6 : 1);
        if (home && board[ahead - 16 * side] === 0) moves.push({ from, to: ahead - 16 * side });
      }
      for (const to of [ahead - 1, ahead + 1])
        if (onBoard(to) && board[to]! * side < 0) moves.push({ from, to });
      continue;
    }
    for (const d of ways[piece]!) {
      for (let to = from + d; onBoard(to) && board[to]! * side <= 0; to += d) {
        moves.push({ from, to });
        if (board[to] !== 0 || !slides(piece)) break;
      }
    }
  }
  return moves;
}

/** Does something after a move, then takes it back. */
function after<T>(board: Board, { from, to }: Move, then: () => T): T {
  const [moved, taken] = [board[from]!, board[to]!];
  const last = to >> 4 === 0 || to >> 4 === 7;
  board[to] = Math.abs(moved) === pawn && last ? Math.sign(moved) * queen : moved;
  board[from] = 0;
  const out = then();
  board[from] = moved;
  board[to] = taken;
  return out;
}

/** Moves that leave the king safe. */
export const legalMoves = (board: Board, side: Side): Move[] =>
  reachable(board, side).filter((move) => !after(board, move, () => inCheck(board, side)));

const fromCentre = (square: number): number => Math.abs((square & 7) - 3.5) + Math.abs((square >> 4) - 3.5);

/**
 * For white, in hundredths of a pawn: material, pieces in the centre, pawns on their way; and where a side has nothing
 * left but its king, that it is driven to the edge with the other king near.
 */
export function evaluate(board: Board): number {
  let sum = 0;
  const kings: [white: number, black: number] = [0, 0];
  const others: [white: number, black: number] = [0, 0];
  for (let square = 0; square < 128; square++) {
    const piece = board[square]!;
    if (piece === 0 || !onBoard(square)) continue;
    const [side, own] = piece > 0 ? ([1, 0] as const) : ([-1, 1] as const);
    const kind = Math.abs(piece);
    if (kind === king) {
      kings[own] = square;
      continue;
    }
    others[own] += 1;
    const row = side === 1 ? 6 - (square >> 4) : (square >> 4) - 1;
    sum += side * (worth[kind]! + (kind === pawn ? 6 * row * row : -3 * fromCentre(square)));
  }
  const apart = Math.abs((kings[0] & 7) - (kings[1] & 7)) + Math.abs((kings[0] >> 4) - (kings[1] >> 4));
  if (others[1] === 0 && others[0] > 0) sum += 20 * fromCentre(kings[1]) - 8 * apart;
  if (others[0] === 0 && others[1] > 0) sum -= 20 * fromCentre(kings[0]) - 8 * apart;
  return sum;
}

/** Value for the side to move, looking so many half-moves ahead; a mate counts more the sooner it comes. */
function negamax(board: Board, side: Side, depth: number, alpha: number, beta: number): number {
  if (depth === 0) return side * evaluate(board);
  let best = Number.NEGATIVE_INFINITY;
  let floor = alpha;
  for (const move of ordered(board, reachable(board, side))) {
    const value = after(board, move, () =>
      inCheck(board, side) ? undefined : -negamax(board, side === 1 ? -1 : 1, depth - 1, -beta, -floor),
    );
    if (value === undefined) continue;
    if (value > best) best = value;
    if (best > floor) floor = best;
    if (floor >= beta) break;
  }
  if (best > Number.NEGATIVE_INFINITY) return best;
  return inCheck(board, side) ? -won - depth : 0;
}

/** Captures of the most by the least first, so that more can be cut off. */
function ordered(board: Board, moves: Move[]): Move[] {
  const gain = ({ from, to }: Move): number =>
    board[to] === 0 ? 0 : 10 * worth[Math.abs(board[to]!)]! - worth[Math.abs(board[from]!)]! + 1000;
  return moves.sort((a, b) => gain(b) - gain(a));
}

/** The pieces after a move, as a key. */
export const afterMove = (board: Board, move: Move): string => after(board, move, () => board.join());

/**
 * The first legal move of highest value, looking `depth` ≥ 1 half-moves ahead; none in a position without legal moves.
 * @param avoided moves not to be played where there are others.
 */
export function bestMove(
  board: Board,
  side: Side,
  depth: number,
  avoided: (move: Move) => boolean = () => false,
): Move | undefined {
  const legal = ordered(board, legalMoves(board, side));
  const open = legal.filter((move) => !avoided(move));
  let best: Move | undefined;
  let most = Number.NEGATIVE_INFINITY;
  for (const move of open.length > 0 ? open : legal) {
    const value = after(
      board,
      move,
      () => -negamax(board, side === 1 ? -1 : 1, depth - 1, Number.NEGATIVE_INFINITY, -most),
    );
    if (best === undefined || value > most) [best, most] = [move, value];
  }
  return best;
}
