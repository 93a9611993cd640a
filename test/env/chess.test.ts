import assert from "node:assert/strict";
import { test } from "node:test";
import { Chess } from "chess.js";
import { randomStream } from "../../src/core/random.ts";
import type { Task } from "../../src/core/types.ts";
import { chess } from "../../src/env/chess/chess.ts";
import type { Opponent } from "../../src/env/chess/game.ts";
import { bestMove, boardOf, evaluate, legalMoves, squareAt, squareName } from "../../src/env/chess/search.ts";

const printed = (fen: string): string => fen.split(" ")[0]!.replace(/\d/g, (n) => ".".repeat(Number(n)));
const best = (fen: string, side: 1 | -1, depth: number): string | undefined => {
  const move = bestMove(boardOf(printed(fen)), side, depth);
  return move && `${squareName(move.from)} ${squareName(move.to)}`;
};

test("search: knows the moves that the rules library knows, castling, taking in passing and lesser pieces aside", () => {
  const random = randomStream(7);
  for (let game = 0; game < 2; game++) {
    const rules = new Chess();
    while (!rules.isGameOver() && rules.moveNumber() < 30) {
      const side = rules.turn() === "w" ? 1 : -1;
      const known = legalMoves(boardOf(printed(rules.fen())), side).map(
        (m) => squareName(m.from) + squareName(m.to),
      );
      const all = rules.moves({ verbose: true });
      const expected = all.filter((m) => !/[keq]/.test(m.flags)); // castling on either side, taking in passing
      assert.deepEqual(known.sort(), [...new Set(expected.map((m) => m.from + m.to))].sort(), rules.fen());
      const { from, to, promotion } = all[random.below(all.length)]!;
      rules.move({ from, to, ...(promotion && { promotion }) });
    }
  }
});

test("search: mates at once where it can, for either side, and takes no stalemate for it", () => {
  assert.equal(best("6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1", 1, 2), "a1 a8");
  assert.equal(best("r5k1/8/8/8/8/8/5PPP/6K1 b - - 0 1", -1, 2), "a8 a1");
  // the black king in the corner: Qf7 or Qg6 without more would leave it no move; Qg7 is mate by the king on f6
  assert.equal(best("7k/8/5K2/8/8/8/6Q1/8 w - - 0 1", 1, 2), "g2 g7");
});

test("search: a piece that is guarded is not taken by a greater one", () => {
  // Qxd5 would win a pawn and lose the queen to the pawn on e6
  assert.notEqual(best("4k3/8/4p3/3p4/8/8/8/3QK3 w - - 0 1", 1, 2), "d1 d5");
  assert.equal(best("4k3/8/4p3/3p4/8/8/8/3QK3 w - - 0 1", 1, 1), "d1 d5");
});

test("evaluate: equal material on mirrored squares is worth nothing; squares are named from the first row up", () => {
  assert.equal(evaluate(boardOf(printed(new Chess().fen()))), 0);
  assert.equal(squareAt("a8"), 0);
  assert.equal(squareAt("h1"), 7 * 16 + 7);
  assert.equal(squareName(squareAt("e4")!), "e4");
  assert.equal(squareAt("i9"), undefined);
});

const at = (fen: string): Task => ({
  id: "game",
  prompt: [{ role: "user", content: "" }],
  metadata: { fen },
  seed: 1,
});
async function begun(fen: string, opponent: Opponent = "search", turns = 80) {
  const env = chess({ opponent, turns });
  const episode = await env.start(at(fen), randomStream(1));
  return {
    env,
    episode,
    act: (content: string) => episode.act({ content, stop: "eos" }),
    seen: async () => (await episode.observe()).observation,
  };
}

test("chess: a mate pays 1, in any notation", async () => {
  for (const move of ["a1 a8", "a1a8", "Ra8#", "Ra8"]) {
    const { act } = await begun("6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1");
    assert.deepEqual(await act(move), {
      rewards: { outcome: 1 },
      end: { kind: "done", reason: "mate", success: true },
    });
  }
});

test("chess: being mated pays −1", async () => {
  // the rook comes down to the first row, which the king's own pawns keep it on
  const { act } = await begun("rr4k1/8/8/8/8/8/P4PPP/6K1 w - - 0 1");
  assert.deepEqual(await act("a2 a4"), {
    rewards: { outcome: -1 },
    end: { kind: "done", reason: "mate", success: false },
  });
});

test("chess: a stalemate is worth nothing", async () => {
  const { act } = await begun("7k/8/5K2/8/8/8/8/6Q1 w - - 0 1");
  assert.deepEqual(await act("g1 g6"), {
    rewards: { outcome: 0 },
    end: { kind: "done", reason: "stalemate", success: false },
  });
});

test("chess: what is no legal move changes nothing and costs a turn", async () => {
  const { act, seen } = await begun("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1", "random", 4);
  const before = (await seen()).stateKey;
  assert.deepEqual(await act("e2 e5"), { rewards: { illegal: -1 }, text: "that is no legal move here" });
  assert.deepEqual((await act("constructor")).rewards, { illegal: -1 });
  assert.equal((await seen()).stateKey, before);
  assert.deepEqual((await seen()).legal?.toSorted(), ["e1 d1", "e1 d2", "e1 f1", "e1 f2", "e2 e3", "e2 e4"]);
  assert.deepEqual(await act("e2 e4"), {});
  assert.match((await seen()).messages[0]!.content, /^black plays e8 .*\n8 /);
  assert.deepEqual((await act("e4 e8")).end, { kind: "truncated", limit: "turns", at: 4 });
});

test("chess: the same position for the third time is a draw", async () => {
  const shuffle: Opponent = async (fen) => (fen.startsWith("4k3") ? "e8 d8" : "d8 e8");
  const { act, env } = await begun("4k3/8/8/8/8/8/8/QQ2K3 w - - 0 1", shuffle);
  // both kings are back after the second and the fourth move: with the beginning that makes three times
  for (const move of ["e1 e2", "e2 e1", "e1 e2"]) assert.deepEqual(await act(move), {});
  assert.deepEqual((await act("e2 e1")).end, {
    kind: "done",
    reason: "the same position three times",
    success: false,
  });
  assert.ok(!env.abilities.has("replay"), "another opponent need not answer the same again");
});

test("chess: a pawn becomes a queen unless something else is named", async () => {
  const queen = await begun("8/P6k/8/8/8/8/8/K7 w - - 0 1");
  await queen.act("a7 a8");
  assert.match((await queen.seen()).messages[0]!.content, /\n8 Q /);
  const rook = await begun("8/P6k/8/8/8/8/8/K7 w - - 0 1");
  await rook.act("a7 a8 r");
  assert.match((await rook.seen()).messages[0]!.content, /\n8 R /);
});

test("chess: an opponent that names no legal move has any one played", async () => {
  const { act, seen } = await begun("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1", async () => "resign");
  await act("e2 e4");
  assert.match((await seen()).messages[0]!.content, /^black plays e8 [def][78] /);
});

test("chess: the text says what black takes", async () => {
  const { act, seen } = await begun("3rk3/8/8/8/8/8/4P3/3QK3 w - - 0 1", "greedy");
  assert.deepEqual(await act("e2 e3"), { text: "black takes your queen" });
  assert.match((await seen()).messages[0]!.content, /^black plays d8 d1 check /);
});
