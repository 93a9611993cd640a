import assert from "node:assert/strict";
import { test } from "node:test";
import { obeys } from "../../../../test/advantage/laws.ts";
import { evidenceOf } from "../../../../test/core/make.ts";
import type { AnnotatedExperience, Credited } from "../../../core/slots.ts";
import type { Span } from "../../../core/types.ts";
import { tokenReturns } from "./tokenReturns.ts";

obeys("tokenReturns", () => tokenReturns({ discount: 0.5 }), ["scales", "permutes"]);

/** Two trajectories of two turns of two tokens, 0.0 and 0.1. */
function marked(credits: readonly Credited[]): AnnotatedExperience {
  return { ...evidenceOf([[undefined, undefined]], () => 2), channels: { critique: credits } };
}
const at = (turn: number, span: Span) => ({ trajectory: "0.0", turn, span });

test("tokenReturns is worked by hand: what follows, halved for each token in between, across turns", () => {
  const credits: readonly Credited[] = [
    { at: at(0, [1, 2]), value: 1 },
    { at: at(1, [1, 2]), value: -1 },
  ];
  const of = (discount: number) =>
    tokenReturns({ discount }).apply(marked(credits), null, undefined).advantages.get("0.0");
  // from the last token back: −1; −1/2; 1 − 1/4; 3/8
  assert.deepEqual([...of(0.5)!], [0.375, 0.75, -0.5, -1]);
  assert.deepEqual([...of(0)!], [0, 1, 0, -1]);
  assert.deepEqual([...of(1)!], [0, 0, -1, -1]);
});

test("tokenReturns: no credit is no advantage, a credit of 0 is one; what is of no unit is left out", () => {
  const zero = [{ at: { trajectory: "0.1" }, value: 0 }];
  const { advantages } = tokenReturns().apply(marked(zero), null, undefined);
  assert.deepEqual([...advantages], [["0.1", new Float32Array(4)]]);
  const nobody = { ...marked(zero), units: [] };
  assert.equal(tokenReturns().apply(nobody, null, undefined).advantages.size, 0);
});

test("tokenReturns adds to what there is", () => {
  const soFar = new Map([["0.0", Float32Array.of(1, 1, 1, 1)]]);
  const credits = [{ at: at(1, [0, 1]), value: 2 }];
  const { advantages } = tokenReturns({ discount: 0 }).apply(marked(credits), null, soFar);
  assert.deepEqual([...advantages.get("0.0")!], [1, 1, 3, 1]);
});
