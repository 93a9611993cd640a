import assert from "node:assert/strict";
import { test } from "node:test";
import { play, policyOf, reference, task } from "../../../../test/method/objective/preferences.ts";
import { divergence, softmax } from "../../../worlds/equilibrium.ts";
import { preferencesOf } from "../../../worlds/preferenceGame.ts";
import { srpoSelfImproving } from "./method.ts";

test("srpo-self-improving comes near its closed form: ref(y)/Z(y), Z(d) = Σ ref(y) exp(P(y ≻ d)/β)", async () => {
  const prefers = preferencesOf(task!);
  const Z = [0, 1, 2].map((d) =>
    reference.reduce((sum, p, y) => sum + p * Math.exp(prefers[y]![d]! / 0.3), 0),
  );
  const closed = softmax(Z.map((z, y) => Math.log(reference[y]! / z)));
  const learnt = await policyOf(await play(srpoSelfImproving, 16, 80));
  assert.ok(divergence(closed, reference) > 0.03);
  assert.ok(divergence(closed, learnt) < 0.01, `ends at ${divergence(closed, learnt)}`);
});
