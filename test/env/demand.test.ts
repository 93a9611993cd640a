import assert from "node:assert/strict";
import { test } from "node:test";
import { chessEndgames } from "../../src/env/chess/chessEndgames.ts";
import { isWhole } from "../../src/env/demand.ts";
import { textMaze } from "../../src/env/textMaze.ts";
import { textNavigation } from "../../src/env/textNavigation.ts";
import { wordle } from "../../src/env/wordle/wordle.ts";

test("settings that make no game are refused at the door, by name", () => {
  const wrong: readonly [make: () => unknown, message: RegExp][] = [
    [() => textMaze({ side: 1 }), /textMaze: side: got 1,/],
    [() => textNavigation({ side: 4 }), /textNavigation: side: got 4, expected 2 or 3/],
    [() => textNavigation({ things: 0 }), /textNavigation: things/],
    [() => chessEndgames({ pieces: ["Q", "B"] }), /chessEndgames: pieces: got \["Q","B"\]/],
    [() => chessEndgames({ pieces: [] }), /chessEndgames: pieces/],
    [() => wordle({ answers: ["cat", "horse"] }), /wordle: answers and guesses: got "horse"/],
    [() => wordle({ answers: ["cat"], guesses: ["Dog"] }), /got "Dog"/],
  ];
  for (const [make, message] of wrong) assert.throws(make, { code: "option.range", message });
});

test("isWhole: both ends count, fractions do not", () => {
  assert.deepEqual(
    [1, 2, 2.5, 3, 4, Number.NaN].map((x) => isWhole(x, 2, 3)),
    [false, true, false, true, false, false],
  );
});
