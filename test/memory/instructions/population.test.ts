import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { randomStream } from "../../../src/core/random.ts";
import { type Attempt, drawnAttempts, remembered } from "../../../src/memory/instructions/attempts.ts";
import {
  chancesOf,
  credited,
  drawnFrom,
  type Instruction,
  replaced,
} from "../../../src/memory/instructions/population.ts";
import { lineEditor } from "../../../src/memory/instructions/proposers.ts";

const member = (id: string, weight: number, draws = 5): Instruction => ({
  id,
  text: id,
  weight,
  draws,
  from: [],
});
const near = (a: number, b: number): void => assert.ok(Math.abs(a - b) < 1e-9, `${a} is not ${b}`);

test("chancesOf: a softmax of weights with an even share", () => {
  // weights 0 and 0.1 ln 3 at τ = 0.1: odds 1 and 3; of 0.9: 0.225 and 0.675, and 0.05 each
  const [a, b] = chancesOf([member("a", 0), member("b", 0.1 * Math.log(3))]);
  near(a!, 0.275);
  near(b!, 0.725);
  const even = chancesOf([member("a", 0), member("b", 9)], {
    temperature: Number.POSITIVE_INFINITY,
    floor: 0,
  });
  assert.deepEqual(even, [0.5, 0.5]);
  // weights far apart overflow nothing
  const apart = chancesOf([member("a", 0), member("b", 1e6)]);
  near(apart[0]!, 0.05);
  near(apart[1]!, 0.95);
});

test("drawnFrom: as often as the chances say", () => {
  const members = [member("a", 0), member("b", 0.1 * Math.log(3))];
  const random = randomStream(1);
  const drawn = Array.from({ length: 4000 }, () => drawnFrom(members, random).id);
  const share = drawn.filter((id) => id === "a").length / drawn.length;
  // 0.275, with a deviation of √(0.275 · 0.725 / 4000) = 0.007
  assert.ok(Math.abs(share - 0.275) < 0.025, `${share}`);
});

test("credited: an exponential mean, of the one that was drawn alone", () => {
  const [a, b] = credited([member("a", 0.5), member("b", 0.5)], "a", 1, 0.1);
  near(a!.weight, 0.55); // 0.9 · 0.5 + 0.1 · 1
  assert.equal(a!.draws, 6);
  assert.deepEqual(b, member("b", 0.5));
});

test("replaced: the worst that were drawn enough make room; newcomers begin at the mean", () => {
  const members = [member("a", 0.6), member("b", 0.1, 2), member("c", 0.2), member("d", 0.3)];
  const one = replaced(members, [{ id: "new", text: "x", from: [] }], 3);
  assert.deepEqual(
    one.map(({ id }) => id),
    ["a", "b", "d", "new"],
    "b is worse than c, but was hardly tried",
  );
  near(one.at(-1)!.weight, 0.3); // (0.6 + 0.1 + 0.2 + 0.3) / 4
  assert.equal(one.at(-1)!.draws, 0);
  const known = replaced(members, [{ id: "new", text: "a", from: [] }], 3);
  assert.deepEqual(known, members, "nobody leaves for a text that is there");
  const none = replaced([member("a", 0, 0)], [{ id: "new", text: "x", from: [] }], 3);
  assert.deepEqual(none, [member("a", 0, 0)], "nobody leaves who was not tried");
});

test("replaced: a population keeps its size, and somebody of before", () => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ weight: fc.double({ min: 0, max: 1, noNaN: true }), draws: fc.nat(6) }), {
        minLength: 1,
        maxLength: 6,
      }),
      fc.array(fc.constantFrom("m0", "x", "y", "z"), { maxLength: 6 }),
      (kept, texts) => {
        const members = kept.map(({ weight, draws }, i) => member(`m${i}`, weight, draws));
        const after = replaced(
          members,
          texts.map((text, i) => ({ id: `new${i}`, text, from: [] })),
          3,
        );
        assert.equal(after.length, members.length);
        assert.ok(after.some(({ id }) => members.some((one) => one.id === id)));
        assert.equal(new Set(after.map(({ text }) => text)).size, after.length);
      },
    ),
    { seed: 1 },
  );
});

const attempt = (reply: string, reward: number): Attempt => ({
  trajectory: reply,
  task: "t",
  asked: "q",
  instruction: "",
  reply,
  reward,
});

test("remembered: what earned least stays, and of equals the newest", () => {
  const buffer = remembered(
    [attempt("old", 0.5), attempt("bad", 0)],
    [attempt("new", 0.5), attempt("good", 1)],
    3,
  );
  assert.deepEqual(buffer.map(({ reply }) => reply).sort(), ["bad", "new", "old"]);
  const full = remembered(buffer, [attempt("newest", 0.5)], 2);
  assert.deepEqual(full.map(({ reply }) => reply).sort(), ["bad", "newest"]);
});

test("drawnAttempts: each once, the bad ones more often, by the ratio of their odds", () => {
  const buffer = [attempt("bad", 0), attempt("good", 0.2 * Math.log(4))];
  const firsts = Array.from(
    { length: 2000 },
    (_, i) => drawnAttempts(buffer, 1, 0.2, randomStream(i))[0]!.reply,
  );
  const share = firsts.filter((reply) => reply === "bad").length / firsts.length;
  // odds 1 : 1/4
  assert.ok(Math.abs(share - 0.8) < 0.03, `${share}`);
  assert.equal(new Set(drawnAttempts(buffer, 5, 0.2, randomStream(1))).size, 2);
});

test("lineEditor: one line more, one other or one less, of the stock, none twice, none too many", async () => {
  const stock = ["a", "b", "c"];
  const ask = (text: string, most: number) =>
    lineEditor(
      stock,
      most,
    )({ members: [{ ...member("x", 1), text }], attempts: [], count: 60, random: randomStream(2) });
  const edited = new Set(await ask("a\nb", 3));
  assert.deepEqual([...edited].sort(), ["a", "a\nb\nc", "a\nc", "b", "c\nb"]);
  assert.deepEqual([...new Set(await ask("a\nb", 2))].sort(), ["a", "a\nc", "b", "c\nb"]);
  assert.deepEqual([...new Set(await ask("", 2))].sort(), stock);
  assert.deepEqual([...new Set(await ask("a\nb\nc", 3))].sort(), ["a\nb", "a\nc", "b\nc"]);
});
