import assert from "node:assert/strict";
import { test } from "node:test";
import { environments as all, isGame } from "../../src/env/index.ts";
import { obeysTheLaws, type Promised } from "./laws.ts";

/** Games have laws of their own: test/env/games. */
const environments = all.filter((row) => !isGame(row.make()));

const promises: Readonly<Record<string, Promised>> = {
  functions: { garbage: 0.02, flawed: [0.35, 0.5], flawedOn: ["train"] },
  sql: { garbage: 0.02, flawed: [0.25, 0.45], flawedOn: ["train"] },
  arithmetic: { garbage: 0.02, flawed: [0.4, 0.65] },
  countdown: { garbage: 0.02, flawed: [0.05, 0.3] },
  facts: { garbage: 0.02, flawed: [0.4, 0.45], flawedOn: ["train", "validation", "test"] },
  maze: { garbage: 0.1, flawed: [0.4, 0.46] },
  "controlled-maze": { garbage: 0.1, flawed: [0.1, 0.7] },
  bandit: { garbage: 0.4 },
  "contextual-bandit": { garbage: 0.3 },
  tickets: { garbage: 0.3 },
  screens: { garbage: 0.05, flawed: [0.1, 0.8] },
  codewords: { garbage: 0.05 },
  pages: { garbage: 0.05, flawed: [0, 0.6] },
  users: { garbage: 0.1, flawed: [0.1, 0.4] },
  "key-grid": { garbage: 0.3, flawed: [0.4, 1] },
  "tool-chains": { garbage: 0.01, flawed: [0, 0] },
  "tool-world": { garbage: 0.02, flawed: [0.2, 0.3] },
  "trajectory-pairs": { garbage: 0.1, flawed: [0.35, 0.65] },
  "entangled-instructions": { garbage: 0.01, flawed: [0.7, 0.8] },
  wordle: { garbage: 0.02, flawed: [0.2, 0.4] },
  "twenty-questions": { garbage: 0.05, flawed: [0.05, 0.7] },
  "guess-my-city": { garbage: 0.05, flawed: [0.6, 0.9] },
  "text-maze": { garbage: 0.5, flawed: [0.7, 1] },
  "text-navigation": { garbage: 0.02, flawed: [0.2, 0.7] },
  chess: { garbage: 0.02, flawed: [0.3, 1] },
  "chess-endgames": { garbage: 0.02, flawed: [0.5, 1] },
  "car-dealer": { garbage: 0.02, flawed: [0.5, 0.95] },
};

test("environments: every row has its promises, and makes what it says", () => {
  assert.deepEqual(environments.map((e) => e.name).sort(), Object.keys(promises).sort());
  for (const row of environments) assert.equal(row.make().name, row.name);
});

for (const row of environments) obeysTheLaws(row.make, promises[row.name]!);
