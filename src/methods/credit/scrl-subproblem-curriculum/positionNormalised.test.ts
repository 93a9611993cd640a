import assert from "node:assert/strict";
import { test } from "node:test";
import { evidenceOf } from "../../../../test/core/make.ts";
import type { Credited } from "../../../core/slots.ts";
import { type PositionNormalisedOptions, positionNormalised } from "./positionNormalised.ts";

/** Three trajectories of one group, three turns of two tokens each, with these credits by turn. */
function applied(credits: readonly (readonly number[])[], options?: PositionNormalisedOptions) {
  const step = credits.flatMap((own, i) =>
    own.map((value, turn): Credited => ({ at: { trajectory: `0.${i}`, turn }, value })),
  );
  const evidence = { ...evidenceOf([credits.map(() => undefined)], () => 3), channels: { step } };
  return positionNormalised(options).apply(evidence, null, undefined);
}
const rounded = (xs: Float32Array | undefined): number[] =>
  [...xs!].map((x) => Math.round(x * 1e4) / 1e4 + 0);
/** 1/√2 and √2, as rounded. */
const low = rounded(Float32Array.of(Math.SQRT1_2))[0]!;
const high = rounded(Float32Array.of(Math.SQRT2))[0]!;

test("positions are compared apart, on the tokens of their turn", () => {
  // position 0: 1, 1, 0: mean 2/3, std √2/3, so 1/√2, 1/√2, −√2. position 1: 1, 0, 0: √2, −1/√2, −1/√2. position 2: equal
  const { advantages, stats } = applied([
    [1, 1, 0],
    [1, 0, 0],
    [0, 0, 0],
  ]);
  assert.deepEqual(rounded(advantages.get("0.0")), [low, low, high, high, 0, 0]);
  assert.deepEqual(rounded(advantages.get("0.1")), [low, low, -low, -low, 0, 0]);
  assert.deepEqual(rounded(advantages.get("0.2")), [-high, -high, -low, -low, 0, 0]);
  assert.deepEqual(stats, { groups: 3, deadGroups: 1 / 3 });
});

test("one that stopped early failed at what it did not answer, for the others' comparison", () => {
  // position 1: 1 against a missing one: mean 1/2, std 1/2
  const { advantages } = applied([[1, 1], [1]]);
  assert.deepEqual(rounded(advantages.get("0.0")), [0, 0, 1, 1, 0, 0]);
  assert.deepEqual(rounded(advantages.get("0.1")), [0, 0, 0, 0, 0, 0]);
});

test("over the whole group every position has one baseline", () => {
  // 1, 1, 1, 0: mean 3/4, std √3/4, so 1/√3 and −√3
  const { advantages } = applied(
    [
      [1, 1],
      [1, 0],
    ],
    { compare: "group" },
  );
  assert.deepEqual(rounded(advantages.get("0.1")), [0.5774, 0.5774, -1.7321, -1.7321, 0, 0]);
});

test("a span's credit reaches back to the end of the place before it", () => {
  // first credit: first token; second: last token of turn 1, so also the rest of turn 0 and turn 1's first token
  const at = (i: number, turn: number, from: number) => ({
    trajectory: `0.${i}`,
    turn,
    span: [from, from + 1] as const,
  });
  const step: Credited[] = [
    { at: at(0, 1, 1), value: 1 },
    { at: at(0, 0, 0), value: 0 },
    { at: at(1, 0, 0), value: 1 },
    { at: at(1, 1, 1), value: 0 },
  ];
  const evidence = { ...evidenceOf([[undefined, undefined]], () => 3), channels: { step } };
  const { advantages } = positionNormalised().apply(evidence, null, undefined);
  assert.deepEqual([...advantages.get("0.0")!], [-1, 1, 1, 1, 0, 0]);
});

test("no credit is no advantage; what is there is added to", () => {
  const step: Credited[] = [{ at: { trajectory: "0.0", turn: 0 }, value: 1 }];
  const evidence = { ...evidenceOf([[undefined, undefined]]), channels: { step } };
  const soFar = new Map([["0.0", Float32Array.of(2, 3)]]);
  const { advantages } = positionNormalised().apply(evidence, null, soFar);
  assert.deepEqual([...advantages.keys()], ["0.0"]);
  assert.deepEqual([...advantages.get("0.0")!], [2, 3], "alone in its group");
  const nothing = positionNormalised().apply(evidenceOf([[1, 0]]), null, undefined);
  assert.equal(nothing.advantages.size, 0);
  assert.deepEqual(nothing.stats, { groups: 0 });
});
