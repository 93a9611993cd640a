import assert from "node:assert/strict";
import { test } from "node:test";
import { randomStream } from "../../src/core/random.ts";
import { anchoredFlips, observationalReward } from "../../src/helper/observationalReward.ts";
import { propensity } from "../../src/helper/propensity.ts";

const near = (a: number, b: number, by: number): void =>
  assert.ok(Math.abs(a - b) < by, `${a} is not ${b}, give or take ${by}`);

/** Rows of one kind of item: so many called good, so many called bad, so many silent. */
const rowsOf = (x: Readonly<Record<string, number>>, good: number, bad: number, silent: number) => [
  ...Array.from({ length: good }, () => ({ x, y: 1, weight: 1 })),
  ...Array.from({ length: bad }, () => ({ x, y: 0, weight: 1 })),
  ...Array.from({ length: silent }, () => ({ x, y: null, weight: 1 })),
];
const fine = { strength: 1e-6, passes: 600 };

test("propensity: the share that speaks, of each kind; its weights' worth and its floor are said", async () => {
  const loud = rowsOf({ a: 1 }, 8, 0, 2);
  const quiet = rowsOf({ b: 1 }, 1, 0, 9);
  const heard = (rows: typeof loud) => rows.map((row) => ({ ...row, y: Number(row.y !== null) }));
  const helper = propensity(fine)();
  const stats = await helper.fit(heard([...loud, ...quiet]));
  const [a, b] = await helper.predict([{ a: 1 }, { b: 1 }]);
  near(a!, 0.8, 0.01);
  near(b!, 0.1, 0.01);
  assert.equal(stats.rows, 20);
  near(stats.answered!, 9 / 20, 1e-12);
  // squares: 8 · 0.04 + 2 · 0.64 + 0.81 + 9 · 0.01 = 2.5 over 20
  near(stats.error!, 0.125, 1e-3);
  // weights: eight of 1.25 and one of 10: (20)² / (9 · (12.5 + 100)) = 0.395
  near(stats.effective!, 0.395, 0.02);
  assert.equal(stats.clipped, 0);

  const floored = propensity({ ...fine, least: 0.5 })();
  const clipped = await floored.fit(heard([...loud, ...quiet]));
  assert.equal(clipped.clipped, 0.5);
  assert.equal((await floored.predict([{ b: 1 }]))[0], 0.5);
  assert.throws(() => propensity({ least: 0 }), /least: got 0, expected a probability above 0/);
});

test("flips: the label that noise leaves right on average, on two points", async () => {
  // truly good in 1 of 2; ρ10 = 0.1, ρ01 = 0.3: called good 0.5 · 0.7 + 0.5 · 0.1 = 0.4
  const rows = rowsOf({ a: 1 }, 40, 60, 0);
  const corrected = observationalReward({ ...fine, flips: { up: 0.1, down: 0.3 }, selection: "none" })();
  await corrected.fit(rows);
  near((await corrected.predict([{ a: 1 }]))[0]!, 0.5, 1e-3);
  const plain = observationalReward({ ...fine, flips: "none", selection: "none" })();
  await plain.fit(rows);
  near((await plain.predict([{ a: 1 }]))[0]!, 0.4, 1e-3);
  // the two rates are not the same one: swapped they would give (0.4 − 0.3) / 0.6 = 0.167
  const swapped = observationalReward({ ...fine, flips: { up: 0.3, down: 0.1 }, selection: "none" })();
  await swapped.fit(rows);
  near((await swapped.predict([{ a: 1 }]))[0]!, 1 / 6, 1e-3);
});

/** Two kinds that the reward cannot tell apart: the pleased speak always, the others one time in four. */
const mixed = [...rowsOf({ loud: 1 }, 100, 0, 0), ...rowsOf({ quiet: 1 }, 0, 25, 75)];
const blind = (row: (typeof mixed)[number]) => ({ ...row, x: { same: 1 } });

test("silence: who seldom speaks counts for those who do not, and silence is no dislike", async () => {
  // a reward that sees no difference: as it is 100 of 125 like it; truly 1 of 2 does
  const kinds = propensity(fine)();
  await kinds.fit(mixed.map(({ x, y, weight }) => ({ x, y: Number(y !== null), weight })));
  const chances = await kinds.predict(mixed.map(({ x }) => x));
  const known = () => ({ fit: async () => ({}), predict: async () => chances });
  const of = async (selection: "none" | "inverse" | "doublyRobust"): Promise<number> => {
    const reward = observationalReward({ ...fine, flips: "none", selection, propensity: known })();
    await reward.fit(mixed.map(blind));
    return (await reward.predict([{ same: 1 }]))[0]!;
  };
  near(await of("none"), 0.8, 1e-3);
  near(await of("inverse"), 0.5, 0.01);
  near(await of("doublyRobust"), 0.5, 0.01);
});

test("doubly robust: with a right guess a wrong chance of feedback does no harm", async () => {
  // the reward tells the kinds apart, so that the guess is right; the chance is said to be 1/2 everywhere
  const reward = observationalReward({
    ...fine,
    flips: "none",
    propensity: () => ({ fit: async () => ({}), predict: async (xs) => xs.map(() => 0.5) }),
  })();
  await reward.fit(mixed);
  const [loud, quiet] = await reward.predict([{ loud: 1 }, { quiet: 1 }]);
  near(loud!, 1, 0.06);
  near(quiet!, 0, 0.06);
});

test("anchors: the surest tenth at each end says how often clicks are wrong", () => {
  // twenty items of weight 1: two are the lowest tenth, one of them called good; two the highest, both called good
  const rows = Array.from({ length: 20 }, (_, i) => ({
    called: i / 20,
    y: i === 1 || i > 9 ? 1 : 0,
    weight: 1,
  }));
  assert.deepEqual(anchoredFlips(rows), { up: 0.45, down: 0 });
  const weighed = rows.map((row, i) => ({ ...row, weight: i === 0 ? 2 : 1 }));
  // total 21, a tenth is 2.1: item 0 alone (2) is not enough, items 0 and 1 are 3, of which 1 says good
  assert.deepEqual(anchoredFlips(weighed), { up: 1 / 3, down: 0 });
  assert.deepEqual(anchoredFlips([]), { up: 0, down: 0 });
});

test("anchors: rates of a noisy, self-selected log are found", async () => {
  const random = randomStream(5);
  const rows = Array.from({ length: 3000 }, () => {
    const x = 4 * random.next() - 2;
    const good = x > 0;
    const wrong = random.next() < (good ? 0.3 : 0.1);
    const speaks = random.next() < (x > 1 ? 0.8 : 0.3);
    return { x: { x }, y: speaks ? Number(good !== wrong) : null, weight: 1 };
  });
  const reward = observationalReward()();
  const stats = await reward.fit(rows);
  near(stats["flips.up"]!, 0.1, 0.06);
  near(stats["flips.down"]!, 0.3, 0.06);
  const [low, high] = await reward.predict([{ x: -2 }, { x: 2 }]);
  assert.ok(low! < 0.1 && high! > 0.9, `${low}, ${high}`);
});

test("a fit begins anew; nothing heard is a half; what it knows survives a checkpoint", async () => {
  const once = observationalReward()();
  await once.fit(mixed);
  const twice = observationalReward()();
  await twice.fit(rowsOf({ loud: 1 }, 0, 50, 0));
  await twice.fit(mixed);
  const xs = [{ loud: 1 }, { quiet: 1 }];
  assert.deepEqual(await twice.predict(xs), await once.predict(xs));
  const loaded = observationalReward()();
  loaded.load(once.save());
  assert.deepEqual(await loaded.predict(xs), await once.predict(xs));
  assert.throws(() => loaded.load({ weights: "none" }), /another form/);
  assert.deepEqual(await loaded.fit(rowsOf({ a: 1 }, 0, 0, 9)), { rows: 9, answered: 0 });
  assert.deepEqual(await loaded.predict([{ a: 1 }]), [0.5]);
});
