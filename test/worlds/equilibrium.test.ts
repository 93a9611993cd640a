import assert from "node:assert/strict";
import { test } from "node:test";
import { randomStream } from "../../src/core/random.ts";
import {
  divergence,
  exploitability,
  regularisedNash,
  softmax,
  winRate,
} from "../../src/worlds/equilibrium.ts";
import { preferenceGame, preferencesOf } from "../../src/worlds/preferenceGame.ts";
import { trajectoryOf, turnOf } from "../core/make.ts";

const close = (got: number, want: number, tolerance = 1e-9): void =>
  assert.ok(Math.abs(got - want) <= tolerance, `${got}, expected ${want}`);

/** Rock beats scissors, scissors beat paper, paper beats rock, at 0.9. */
const circle = [
  [0.5, 0.9, 0.1],
  [0.1, 0.5, 0.9],
  [0.9, 0.1, 0.5],
];

test("win rates and exploitability, by hand", () => {
  // against (1/2, 1/2, 0): rock 0.25 + 0.45 = 0.7, scissors 0.05 + 0.25 = 0.3, paper 0.45 + 0.05 = 0.5
  close(winRate(circle, [1, 0, 0], [0.5, 0.5, 0]), 0.7);
  close(exploitability(circle, [0.5, 0.5, 0]), 0.2);
  close(exploitability(circle, [1 / 3, 1 / 3, 1 / 3]), 0);
  close(winRate(circle, [0.2, 0.3, 0.5], [0.2, 0.3, 0.5]), 0.5);
});

test("the regularised Nash policy is a best reply to itself: π ∝ μ exp(P(y ≻ π)/τ)", () => {
  for (const kind of ["cycle", "logistic", "bradleyTerry"] as const) {
    for (const tau of [0.03, 0.3]) {
      const [task] = preferenceGame({ kind, seed: 7, replies: 6 }).tasks("train");
      const prefers = preferencesOf(task!);
      const random = randomStream(kind);
      const mu = softmax(Array.from({ length: 6 }, () => random.normal()));
      const pi = regularisedNash(prefers, mu, tau);
      const wins = prefers.map((row) => row.reduce((sum, p, j) => sum + p * pi[j]!, 0));
      const reply = softmax(wins.map((w, i) => Math.log(mu[i]!) + w / tau));
      close(divergence(pi, reply), 0);
    }
  }
  // by symmetry, from an even reference
  const even = regularisedNash(circle, [1 / 3, 1 / 3, 1 / 3], 0.1);
  for (const p of even) close(p, 1 / 3);
});

test("preference games: P and its mirror add up to 1; a cycle beats half, losers lose to all", async () => {
  for (const kind of ["cycle", "logistic", "bradleyTerry"] as const) {
    for (const task of preferenceGame({ kind }).tasks("train")) {
      const prefers = preferencesOf(task);
      prefers.forEach((row, i) => {
        for (const [j, p] of row.entries()) close(p + prefers[j]![i]!, 1);
        if (kind === "cycle") assert.equal(row.filter((p) => p > 0.5).length, 2);
      });
    }
  }
  const game = preferenceGame({ replies: 6, losers: 3, strength: [0.9, 0.9] });
  const [task] = game.tasks("train");
  const prefers = preferencesOf(task!);
  assert.deepEqual(
    prefers.map((row) => row.filter((p) => p > 0.5).length),
    [4, 4, 4, 0, 0, 0],
  );
  const said = (content: string) =>
    trajectoryOf(content, [turnOf([1], [2], { action: { role: "assistant", content } })]);
  close(await game.prefer!(task!, said("r0"), said("r4")), 0.9);
  assert.deepEqual(
    await Promise.all([
      game.prefer!(task!, said("?"), said("r4")),
      game.prefer!(task!, said("r4"), said("?")),
      game.prefer!(task!, said("?"), said("!")),
    ]),
    [0, 1, 0.5],
  );
});

test("preference games: Bradley–Terry has no circles: the order by score is the order in every pair", () => {
  for (const task of preferenceGame({ kind: "bradleyTerry", questions: 6 }).tasks("train")) {
    const prefers = preferencesOf(task);
    const score = prefers.map((row) => row.reduce((a, b) => a + b, 0));
    prefers.forEach((row, i) => {
      row.forEach((p, j) => {
        if (i !== j) assert.equal(p > 0.5, score[i]! > score[j]!);
      });
    });
  }
});
