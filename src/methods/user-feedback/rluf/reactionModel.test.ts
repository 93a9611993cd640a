import assert from "node:assert/strict";
import { test } from "node:test";
import { isWhetstoneError } from "../../../core/errors.ts";
import { randomStream } from "../../../core/random.ts";
import { fitLogistic, logisticFitness, oddsOf } from "../../../helper/logisticRegression.ts";
import { reactionModel } from "./reactionModel.ts";

const random = randomStream(1);
const row = <Y extends number | null>(y: Y, x: Record<string, number> = {}, weight = 1) => ({ x, y, weight });
const times = <T>(n: number, of: () => T): T[] => Array.from({ length: n }, of);
const near = (got: number | undefined, want: number, within = 1e-3): void =>
  assert.ok(Math.abs(got! - want) < within, `${got}, not ${want}`);

test("reactionModel: without features the rate of the log, whether or not silent replies are left out", async () => {
  const log = [row(1), ...times(9, () => row(0))];
  const all = reactionModel({ strength: 0, passes: 2000 })(random);
  assert.deepEqual(await all.fit(log), { rows: 10, rate: 0.1, kept: 1 });
  near((await all.predict([{}]))[0], 0.1);
  // 2 of 9 silent ones are kept: odds 1 : 2, times 2/9 is 1 : 9, a rate of 1/10 again
  const few = reactionModel({ strength: 0, passes: 2000, negatives: 2 })(random);
  assert.deepEqual(await few.fit(log), { rows: 3, rate: 0.1, kept: 2 / 9 });
  near((await few.predict([{}]))[0], 0.1);
  // less than half a negative for each is one of them: without any, odds would be without bounds
  const fewest = reactionModel({ strength: 0, passes: 2000, negatives: 0.4 })(random);
  assert.deepEqual(await fewest.fit(log), { rows: 2, rate: 0.1, kept: 1 / 9 });
  near((await fewest.predict([{}]))[0], 0.1);
});

test("reactionModel: a feature moves the odds; silence at half weight counts half, and what nobody could react to not at all", async () => {
  // with a: 3 of 4, odds 3; without: 1 of 4, odds 1/3; so θ_a = ln 9
  const log = [...times(3, () => row(1, { a: 1 })), row(0, { a: 1 }), row(1), ...times(3, () => row(0))];
  const helper = reactionModel({ strength: 0, passes: 3000 })(random);
  await helper.fit(log);
  const [loud, quiet] = await helper.predict([{ a: 1 }, {}]);
  near(loud, 0.75);
  near(quiet, 0.25);
  // silence at weight 1/2: 1 : 1.5, so 0.4
  const patient = reactionModel({ strength: 0, passes: 3000, silence: 0.5 })(random);
  await patient.fit([row(1), ...times(3, () => row(0)), ...times(5, () => row(null))]);
  near((await patient.predict([{}]))[0], 0.4);
});

test("reactionModel: what it cannot know it does not say, and its state comes back", async () => {
  const helper = reactionModel()(random);
  assert.deepEqual(await helper.fit([row(0), row(0)]), { rows: 0 });
  assert.ok(Number.isNaN((await helper.predict([{}]))[0]));
  await helper.fit([row(0), row(1, { a: 1 })]);
  const again = reactionModel()(random);
  again.load(JSON.parse(JSON.stringify(helper.save())));
  assert.deepEqual(await again.predict([{ a: 1 }, {}]), await helper.predict([{ a: 1 }, {}]));
  assert.throws(
    () => again.load([1]),
    (e) => isWhetstoneError(e) && e.code === "checkpoint.damaged",
  );
});

test("fitLogistic: without rows or weight nothing moves, and the fit is no number", () => {
  const theta = new Map([["a", 2]]);
  assert.equal(fitLogistic([], theta), theta);
  assert.equal(fitLogistic([row(1, { a: 1 }, 0)], theta), theta);
  assert.equal(oddsOf(theta, { a: 3, b: 1 }), 6);
  assert.ok(Number.isNaN(logisticFitness([], theta).loss));
});
