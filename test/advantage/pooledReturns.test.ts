import assert from "node:assert/strict";
import { test } from "node:test";
import { clipWidth, pooledReturns } from "../../src/advantage/pooledReturns.ts";
import type { AnnotatedExperience, Channels, Credited } from "../../src/core/slots.ts";
import { evidenceOf } from "../core/make.ts";
import { apply, near, obeys } from "./laws.ts";

obeys("pooledReturns", () => pooledReturns(), [
  "shift",
  "scaleFree",
  "sumsToZero",
  "permutes",
  "deadIsZero",
  "loneIsZero",
  "oneOverTokens",
]);
obeys("pooledReturns per turn", () => pooledReturns({ pool: "turn", accumulate: "root", weight: 0.3 }), [
  "shift",
  "scaleFree",
  "sumsToZero",
  "permutes",
  "deadIsZero",
  "loneIsZero",
  "oneOverTokens",
]);

const pay = (trajectory: string, turn: number | undefined, value: number): Credited => ({
  at: turn === undefined ? { trajectory } : { trajectory, turn },
  value,
});

/** Two attempts of three turns: gains 3, 1 and 1, 3; outcomes 1 and 0. */
const paid = (channels: Channels): AnnotatedExperience => ({ ...evidenceOf([[0, 0]], () => 3), channels });
const gain = [pay("0.0", 0, 3), pay("0.0", 1, 1), pay("0.1", 0, 1), pay("0.1", 1, 3)];
const outcome = [pay("0.0", undefined, 1), pay("0.1", undefined, 0)];

/** One number per turn of two tokens, of both attempts. */
const perTurn = (
  annotated: AnnotatedExperience,
  options: Parameters<typeof pooledReturns>[0],
): number[][] => {
  const { advantages } = pooledReturns(options).apply(annotated, null, undefined);
  return ["0.0", "0.1"].map((id) => [...(advantages.get(id) ?? [])].filter((_, a) => a % 2 === 0));
};

test("pooledReturns is worked by hand: gains and outcomes in pools of their own", () => {
  // gains 3, 1, 1, 3: mean 2, deviation 1, z = 1, −1 and −1, 1; outcomes: z = 1 and −1; summed from behind
  near(perTurn(paid({ gain, outcome }), {}), [
    [1, 0, 1],
    [-1, 0, -1],
  ]);
  // discount 0.5: turn 1 of the first is −1 + 0.5 · 1, turn 0 is 1 + 0.5 · (−0.5)
  near(perTurn(paid({ gain, outcome }), { discount: 0.5 }), [
    [0.75, -0.5, 1],
    [-0.75, 0.5, -1],
  ]);
});

test("pooledReturns: rewards added up share one pool", () => {
  // 3, 1, 1 and 1, 3, 0: mean 1.5, deviation √(7.5/6)
  const s = Math.sqrt(7.5 / 6);
  near(perTurn(paid({ gain, outcome }), { together: "sum" }), [
    [0.5 / s, -1 / s, -0.5 / s],
    [-0.5 / s, 0, -1.5 / s],
  ]);
});

test("pooledReturns: the same turn alone, divided by the root of what is added up", () => {
  // turn 0: 3, 1 and turn 1: 1, 3, each z = ±1; turn 0 adds two terms, the last turn has none and gets 0
  const got = perTurn(paid({ gain }), { pool: "turn", accumulate: "root" });
  near(got, [
    [0, -1, 0],
    [0, 1, 0],
  ]);
  const rising = [pay("0.0", 0, 3), pay("0.0", 1, 3), pay("0.1", 0, 1), pay("0.1", 1, 1)];
  near(perTurn(paid({ gain: rising }), { pool: "turn", accumulate: "root", weight: 0.3 }), [
    [0.3 * Math.SQRT2, 0.3, 0],
    [-0.3 * Math.SQRT2, -0.3, 0],
  ]);
});

test("pooledReturns: a turn that nobody else has gives nothing", () => {
  const lone = [pay("0.0", 0, 3), pay("0.1", 0, 1), pay("0.1", 1, 7)];
  near(perTurn(paid({ gain: lone }), { pool: "turn" }), [
    [1, 0, 0],
    [-1, 0, 0],
  ]);
});

test("pooledReturns: the clip widens with the score of the turn itself, before anything is added up", () => {
  const estimator = pooledReturns({ channels: ["gain"], pool: "turn", clipWidth: 0.3 });
  const { columns } = estimator.apply(paid({ gain, outcome }), null, undefined);
  // 2σ(1) − 1 = 0.46212
  const wide = 1 + 0.3 * 0.4621172;
  const narrow = 1 - 0.3 * 0.4621172;
  const of = (id: string) => [...columns![clipWidth]!.get(id)!].filter((_, a) => a % 2 === 0);
  near(
    [of("0.0"), of("0.1")],
    [
      [wide, narrow, 1],
      [narrow, wide, 1],
    ],
    1e-6,
  );
  assert.equal(pooledReturns().apply(paid({ gain }), null, undefined).columns, undefined);
});

test("pooledReturns: one turn is the group advantage", () => {
  near(apply(pooledReturns(), [[1, 0, 0, 1]]), [[1, -1, -1, 1]]);
});
