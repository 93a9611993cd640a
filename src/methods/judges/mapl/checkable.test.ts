import assert from "node:assert/strict";
import { test } from "node:test";
import { randomStream } from "../../../core/random.ts";
import { ending, type InstructionFunction, keyword, lengthLimit } from "./checkable.ts";

const words = ["red", "green", "blue"];

test("each kind writes instructions that a reply obeys or breaks, as asked, by its own check", () => {
  const kinds: readonly InstructionFunction[] = [keyword(words), lengthLimit(), ending(words)];
  for (const [k, kind] of kinds.entries())
    for (const reply of ["red blue", "green", "blue blue red green"])
      for (const obeyed of [true, false])
        for (let i = 0; i < 20; i++) {
          const made = kind(reply, obeyed, randomStream(k).split(reply, i));
          if (made) assert.equal(made.obeys(reply), obeyed, `${made.text} on ${reply}`);
        }
});

test("checks read other replies too", () => {
  const random = randomStream(1);
  assert.equal(keyword(["red"])("a red b", true, random)!.obeys("b red"), true);
  assert.equal(keyword(["red"])("a red b", true, random)!.obeys("reddish"), false);
  const last = ending(["red"])("a red", true, random)!;
  assert.deepEqual([last.text, last.obeys("red a"), last.obeys("b red")], ["end with red", false, true]);
  const texts = new Set(
    Array.from({ length: 200 }, (_, i) => lengthLimit(2)("a b c", false, random.split(i))!.text),
  );
  assert.deepEqual([...texts].sort(), [
    "at least 4 words",
    "at least 5 words",
    "at most 1 words",
    "at most 2 words",
  ]);
});

test("what cannot be written is undefined", () => {
  const random = randomStream(1);
  assert.equal(keyword(words)("red green blue", false, random), undefined);
  assert.equal(keyword(words)("yellow", true, random), undefined);
  assert.equal(ending(words)("yellow", true, random), undefined);
  const broken = Array.from({ length: 50 }, (_, i) => lengthLimit(1)("one", false, random.split(i)));
  assert.ok(broken.includes(undefined) && broken.every((made) => made === undefined || !made.obeys("one")));
});
