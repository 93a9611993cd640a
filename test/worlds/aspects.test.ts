import assert from "node:assert/strict";
import { test } from "node:test";
import { randomStream } from "../../src/core/random.ts";
import { aspects, instructionText, obeys, type Reply, replyText } from "../../src/worlds/aspects.ts";

const plain = (...values: number[]): Reply => ({ values, synonyms: values.map(() => 0) });

test("the worth is quality at each place, neighbours, and demands obeyed; synonyms are worth nothing", () => {
  const world = aspects({ places: 3, values: 2, synonyms: 2, coherence: 1, obedience: 0.5, seed: 7 });
  const qualities = (p: number, v: number): number => {
    const [zero, one] = [plain(0, 0, 0), plain(0, 0, 0)];
    const values = one.values.with(p, v);
    return (
      world.worthOf([], { ...one, values }).quality -
      world.worthOf([], { ...zero, values: zero.values.with(p, 0) }).quality
    );
  };
  const [low, high] = [world.worthOf([], plain(0, 0, 0)), world.worthOf([], plain(1, 0, 1))];
  assert.ok(Math.abs(high.quality - low.quality - qualities(0, 1) - qualities(2, 1)) < 1e-12);
  assert.equal(high.coherence, world.neighbours[1]![0]! + world.neighbours[0]![1]!);
  const instruction = [
    { place: 0, value: 1 },
    { place: 1, value: 1 },
    { place: 2, value: 1 },
  ];
  assert.equal(world.worthOf(instruction, plain(1, 0, 1)).obedience, 1);
  const { quality, coherence, obedience } = world.worthOf(instruction, plain(1, 0, 1));
  assert.equal(world.goldOf(instruction, plain(1, 0, 1)), quality + coherence + obedience);
  assert.equal(
    world.goldOf(instruction, { values: [1, 0, 1], synonyms: [1, 1, 0] }),
    world.goldOf(instruction, plain(1, 0, 1)),
  );
  assert.equal(aspects({ coherence: 0 }).worthOf([], aspects().drawReply(randomStream(1))).coherence, 0);
});

test("worlds of one seed are equal, those of others differ", () => {
  const reply = plain(0, 1, 2, 0, 1, 2, 0, 1);
  assert.equal(aspects({ seed: 3 }).goldOf([], reply), aspects({ seed: 3 }).goldOf([], reply));
  assert.notEqual(aspects({ seed: 3 }).goldOf([], reply), aspects({ seed: 4 }).goldOf([], reply));
});

test("texts name place, value and synonym; an instruction asks at distinct places", () => {
  assert.equal(replyText({ values: [1, 0, 2], synonyms: [0, 1, 2] }), "a1 b0x c2y");
  assert.equal(instructionText([]), "reply");
  assert.equal(instructionText([{ place: 2, value: 1 }]), "reply c1");
  const world = aspects({ places: 4 });
  for (let i = 0; i < 50; i++) {
    const drawn = world.drawInstruction(randomStream(i), 3);
    assert.equal(new Set(drawn.map(({ place }) => place)).size, 3);
    assert.ok(drawn.every(({ value }) => value >= 0 && value < 3));
  }
  assert.equal(world.drawInstruction(randomStream(1), 9).length, 4);
  assert.ok(obeys(plain(0, 2), { place: 1, value: 2 }) && !obeys(plain(0, 2), { place: 0, value: 2 }));
});

test("labels: Bradley–Terry at a temperature, coins and flips at their rates, the margin as the label orders", () => {
  const world = aspects({ places: 2, values: 2, seed: 5 });
  const instruction = [{ place: 0, value: 1 }];
  const [first, second] = [plain(1, 0), plain(0, 1)];
  const margin = world.goldOf(instruction, first) - world.goldOf(instruction, second);
  const share = (how: Parameters<typeof world.label>[4]): number => {
    let firsts = 0;
    for (let i = 0; i < 4000; i++) {
      const pair = world.label(instruction, first, second, randomStream(9).split(i), how);
      firsts += Number(pair.chosen === first) / 4000;
      assert.equal(pair.margin, pair.chosen === first ? margin : -margin);
      assert.notEqual(pair.chosen, pair.rejected);
    }
    return firsts;
  };
  const near = (got: number, want: number): void =>
    assert.ok(Math.abs(got - want) < 0.025, `${got}, not ${want}`);
  const chance = 1 / (1 + Math.exp(-margin));
  near(share({}), chance);
  near(share({ temperature: 2 }), 1 / (1 + Math.exp(-margin / 2)));
  assert.equal(Math.round(4000 * share({ temperature: 0 })), margin > 0 ? 4000 : 0);
  near(share({ coins: 1 }), 0.5);
  near(share({ flips: 0.2 }), 0.8 * chance + 0.2 * (1 - chance));
  near(share({ temperature: 0, coins: 0.5, flips: 0.2 }), 0.5 * 0.5 + 0.5 * (margin > 0 ? 0.8 : 0.2));
});
