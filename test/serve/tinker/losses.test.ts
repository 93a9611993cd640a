import assert from "node:assert/strict";
import { test } from "node:test";
import { isFault } from "../../../src/serve/tinker/fault.ts";
import { chooseLoss, type Element, lossNames } from "../../../src/serve/tinker/losses.ts";

function chosen(name: string, config: Readonly<Record<string, number | string>> = {}) {
  const loss = chooseLoss(name, config);
  assert.ok(!isFault(loss), isFault(loss) ? loss.error : "");
  return loss;
}
const at = (name: string, x: Partial<Element>) => {
  const { loss, low, high, beta } = chosen(name);
  return loss({ p: -1, q: -1, advantage: 1, weight: 1, low, high, beta, ...x });
};
const near = (got: number, wanted: number): void =>
  assert.ok(Math.abs(got - wanted) < 1e-12, `${got}, ${wanted}`);

test("the losses by hand", () => {
  near(at("cross_entropy", { p: -2, weight: 3 })[0], 6); // −3 · −2
  const twice = { p: Math.log(0.5), q: Math.log(0.25), advantage: 3 }; // r = 2
  near(at("importance_sampling", twice)[0], -6);
  near(at("ppo", twice)[0], -3.6); // clipped at 1.2
  near(at("ppo", { ...twice, advantage: -3 })[0], 6); // the free branch is the smaller one
  near(at("cispo", twice)[0], 6 * Math.log(2)); // −2 · 3 · ln ½, within 0 … 4
  near(at("dro", twice)[0], 3 * Math.log(2) + 0.005 * Math.log(2) ** 2); // −(3 ln ½ − ½ · 0.01 · (ln 2)²)
});

test("slopes are those of finite differences, where the loss has one", () => {
  const h = 1e-6;
  for (const name of lossNames.filter((n) => n !== "cispo")) {
    for (const advantage of [-1.5, 0.7]) {
      for (const q of [-3, -1.05, -0.2]) {
        const x = { q, advantage, weight: 0.8 };
        const slope = (at(name, { ...x, p: -1 + h })[0] - at(name, { ...x, p: -1 - h })[0]) / (2 * h);
        assert.ok(Math.abs(at(name, { ...x, p: -1 })[1] - slope) < 1e-6, `${name} ${advantage} ${q}`);
      }
    }
  }
  // the ratio of cispo is a constant: −sg(min(e², 4))·A
  near(at("cispo", { p: -1, q: -3, advantage: 2 })[1], -8);
});

test("what a loss does not know is refused", () => {
  assert.ok(isFault(chooseLoss("gspo", {})));
  assert.ok(isFault(chooseLoss("toString", {})));
  assert.ok(isFault(chooseLoss("ppo", { beta: 1 })));
  assert.ok(isFault(chooseLoss("ppo", { clip_low_threshold: "0.8" })));
  assert.ok(isFault(chooseLoss("ppo", { clip_low_threshold: 1.3 })));
  assert.equal(chosen("ppo", { clip_high_threshold: 1.5 }).high, 1.5);
});
