/** Options of a method's own: typed, checked, within reach of slots and phases. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { withColumns } from "../../src/common/tokens/pack.ts";
import { method } from "../../src/method/method.ts";
import { rangeOf } from "../../src/method/options.ts";
import { settingRows } from "../../src/method/settings.ts";
import { dpo } from "../../src/methods/baseline/dpo/method.ts";
import { grpo } from "../../src/methods/baseline/grpo/method.ts";
import { methods } from "../../src/methods/catalogue.ts";
import { batchOfRows, ctxOf } from "../core/make.ts";

/** A method that notes the values with which its slots and phases were built. */
function noting() {
  const seen: unknown[] = [];
  const recipe = method({
    id: "noting",
    family: "test",
    summary: "s",
    options: {
      share: { help: "a share", default: 0.5, low: 0, high: 1 },
      rounds: { help: "a count", default: 3, low: 1, whole: true },
      form: { help: "a form", default: "mean", oneOf: ["mean", "sum"] },
      centred: { help: "centre first", default: false },
    },
    slots: (_settings, { share, rounds, form, centred }) => {
      // the types are those of the declaration
      const typed: [number, number, "mean" | "sum", boolean] = [share, rounds, form, centred];
      seen.push(typed);
      return {};
    },
    phases: ({ groupSize }, { rounds }) => {
      seen.push({ groupSize, rounds });
      return [{ name: "first", from: 0, until: rounds, slots: {} }];
    },
  });
  return { recipe, seen };
}

test("slots and phases get the values, defaults where none is given; the method carries them", () => {
  const { recipe, seen } = noting();
  const usual = recipe.build();
  assert.deepEqual(seen.slice(-2), [[0.5, 3, "mean", false], { groupSize: 8, rounds: 3 }]);
  assert.deepEqual(usual.options, { share: 0.5, rounds: 3, form: "mean", centred: false });
  const other = recipe.build({ groupSize: 2 }, { rounds: 5, form: "sum", centred: true });
  assert.deepEqual(seen.slice(-2), [[0.5, 5, "sum", true], { groupSize: 2, rounds: 5 }]);
  assert.equal(other.phases?.[0]?.until, 5);
  assert.ok(!("options" in grpo.build()), "a method without options says nothing of them");
});

test("what cannot be is refused with the range and the default", () => {
  const { recipe } = noting();
  const refused = (options: object, words: RegExp): void =>
    assert.throws(() => recipe.build({}, options), words);
  refused(
    { share: 1.5 },
    /options of method "noting", share: got 1\.5, expected a number from 0 to 1.*leave it out for 0\.5/,
  );
  refused({ share: Number.NaN }, /got NaN, expected a number from 0 to 1/);
  refused({ rounds: 1.5 }, /expected a whole number from 1\b/);
  refused({ form: "max" }, /expected one of mean, sum/);
  refused({ centred: "no" }, /expected true or false/);
  refused({ shares: 1 }, /got "shares".*Did you mean share\?/);
  const none: object = { beta: 1 };
  assert.throws(
    () => grpo.build({}, none),
    /"grpo": got "beta", expected nothing: there are no such options/,
  );
});

test("an option cannot have the name of a setting, nor a default outside its range", () => {
  const about = { id: "m", family: "f", summary: "s", slots: {} };
  assert.throws(
    () => method({ ...about, options: { temperature: { help: "h", default: 1 } } }),
    /"temperature", which is the name of a setting/,
  );
  assert.throws(
    () => method({ ...about, options: { share: { help: "h", default: 2, low: 0, high: 1 } } }),
    /got 2, expected a number from 0 to 1/,
  );
});

test("every option of the catalogue has a help text and ends that can be built", () => {
  const own = methods.filter(({ options }) => Object.keys(options).length > 0);
  assert.ok(own.length >= 40, `${own.length} methods have options`);
  for (const recipe of own) {
    for (const [name, option] of Object.entries(recipe.options)) {
      assert.ok(!(name in settingRows));
      assert.ok(option.help.length > 8 && rangeOf(option) !== "", `${recipe.id}: ${name}`);
      const ends =
        "oneOf" in option
          ? option.oneOf
          : typeof option.default === "boolean"
            ? [true, false]
            : [option.low, option.high].filter((end) => end !== undefined);
      // shares of one whole: where one takes all, the other has to be 0
      const beside = recipe.id === "league-self-play" ? { past: 0, exploited: 0 } : {};
      for (const end of ends) assert.equal(recipe.build({}, { ...beside, [name]: end }).options?.[name], end);
    }
  }
});

test("an option reaches the mathematics: the loss of a pair at another β", async () => {
  const batch = withColumns(
    batchOfRows([
      { behaviour: [-1, -1], advantage: [1, 1] },
      { behaviour: [-1, -1], advantage: [-1, -1] },
    ]),
    {
      "pair.0": Float32Array.of(1, 1, -1, -1),
      "pair.0.strength": Float32Array.of(1, 1, 1, 1),
      "reference.logp": Float32Array.of(-1, -1, -1, -1),
    },
  );
  const outputs = { logp: Float32Array.of(-0.6, -0.8, -1.1, -1.1), heads: {} };
  for (const beta of [0.1, 0.5]) {
    const [objective] = dpo.build({}, { beta }).slots.objective;
    const { loss } = objective!.evaluate(outputs, batch, await objective!.prepare(ctxOf({}), batch));
    // the margin h = (0.4 + 0.2) − (−0.1 − 0.1) = 0.8; −ln σ(β h) = ln(1 + exp(−β h))
    assert.ok(Math.abs(loss - Math.log(1 + Math.exp(-0.8 * beta))) < 1e-5, `${beta}: ${loss}`);
  }
});
