import assert from "node:assert/strict";
import { test } from "node:test";
import { Chess } from "chess.js";
import { chessEndgames } from "../../src/env/chess/chessEndgames.ts";
import { isSuccess, play } from "./play.ts";

const piecesOf = (fen: string): string => fen.split(" ")[0]!.replace(/[^a-zA-Z]/g, "");

test("chess endgames: positions are legal, undecided, white's move, and of the kinds asked for in turn", () => {
  const env = chessEndgames({ pieces: ["Q", "RR"] });
  for (const [i, { metadata }] of env.tasks("train").entries()) {
    const fen = String(metadata.fen);
    const game = new Chess(fen);
    assert.ok(!game.isGameOver() && !game.inCheck() && game.turn() === "w", fen);
    assert.equal([...piecesOf(fen)].sort().join(""), i % 2 === 0 ? "KQk" : "KRRk");
  }
});

test("chess endgames: other seeds give other positions, and the expert mates in them too", async () => {
  const [one, two] = [chessEndgames(), chessEndgames({ seed: 2 })];
  assert.notDeepEqual(one.tasks("test"), two.tasks("test"));
  for (const task of two.tasks("test")) assert.ok(isSuccess(await play(two, task, two.expert!)), task.id);
});

test("chess endgames: against a bare king that moves at random a mate comes as well", async () => {
  const env = chessEndgames({ opponent: "random", pieces: ["R"] });
  for (const task of env.tasks("validation"))
    assert.ok(isSuccess(await play(env, task, env.expert!)), task.id);
});
