import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { readSum } from "../../src/env/expressions.ts";

test("readSum: products first, from left to right, brackets, exact fractions", () => {
  const cases: Readonly<Record<string, readonly [above: number, below: number]>> = {
    "3 + 4 * 2": [11, 1],
    "( 3 + 4 ) * 2": [14, 1],
    "10 - 4 - 3": [3, 1],
    "24 / 4 / 2": [3, 1],
    // 1/3 + 1/6 = 1/2
    "1/3 + 1/6": [1, 2],
    "2 - 5": [-3, 1],
    "-2 * -3": [6, 1],
    "1 / ( 2 - 4 )": [-1, 2],
    "0 / 5": [0, 1],
    "8 / ( 3 - 8 / 3 )": [24, 1],
  };
  for (const [text, [above, below]] of Object.entries(cases)) {
    const read = readSum(text);
    assert.ok("value" in read, text);
    assert.deepEqual(read.value, { above: above + 0, below }, text);
  }
});

test("readSum: the numbers as they are written", () => {
  const read = readSum("(7 - 7) * 12 + 3");
  assert.deepEqual("numbers" in read && read.numbers, [7, 7, 12, 3]);
});

test("readSum: what cannot be read says why", () => {
  for (const text of [
    "",
    "3 +",
    "( 3",
    "3 )",
    "3 4",
    "x",
    "3 + x",
    "alert(1)",
    "1e5",
    "3 ** 2",
    "- ",
    "()",
  ]) {
    assert.deepEqual(readSum(text), { wrong: "no sum" }, text);
  }
  assert.deepEqual(readSum("1 / 0"), { wrong: "divides by zero" });
  assert.deepEqual(readSum("5 + 1 / ( 2 - 2 ) * 0"), { wrong: "divides by zero" });
  assert.deepEqual(readSum("1 / ( 1 / 0 )"), { wrong: "divides by zero" });
  assert.deepEqual(readSum(`${"(".repeat(5000)}1`), { wrong: "too long" });
  assert.deepEqual(readSum("99999999 * 99999999 * 99999999"), { wrong: "too large" });
});

test("readSum agrees with JavaScript where that is exact", () => {
  const sum = fc.letrec<{ any: string }>((tie) => ({
    any: fc.oneof(
      { maxDepth: 4 },
      fc.integer({ min: 0, max: 20 }).map(String),
      fc
        .tuple(tie("any"), fc.constantFrom("+", "-", "*"), tie("any"))
        .map(([a, sign, b]) => `( ${a} ) ${sign} ( ${b} )`),
    ),
  })).any;
  fc.assert(
    fc.property(sum, (text) => {
      const read = readSum(text);
      // the texts are made of numbers and signs alone
      const want: unknown = new Function(`return ${text}`)();
      assert.ok("value" in read && read.value.below === 1 && read.value.above === Number(want) + 0, text);
    }),
    { seed: 1 },
  );
});
