import assert from "node:assert/strict";
import { test } from "node:test";
import { ctxWith, trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { withVerdictRows } from "./withVerdictRows.ts";

const attempt = (id: string, success: boolean) =>
  trajectoryOf(id, [turnOf([1], [2])], { end: { kind: "done", reason: "over", success } });

async function rowsFor(outcomes: readonly boolean[], contextTokens = 64) {
  const vocabulary = ["1 2", "Is the task resolved? YES NO"];
  const model = await tabularEngine().create({ id: "verifier", seed: 1, vocabulary, contextTokens });
  const trajectories = outcomes.map((success, i) => attempt(`${i}`, success));
  const units = trajectories.map(({ id }) => ({ id, group: "g", members: [id] }));
  const { rows = [] } = await withVerdictRows(async () => ({ trajectories, units }))(
    ctxWith({}, { model: () => model }),
  );
  return rows.map(({ info, tokens, targets, weight }) => ({
    says: model.codec.decode(tokens.subarray(targets[0])),
    targets: targets.length,
    weight: [...weight],
    info: [info.model, info.role, info.origin, info.unit],
  }));
}

test("withVerdictRows: one target per attempt, YES twice as heavy as NO in total, mean weight 1", async () => {
  const rows = await rowsFor([true, false, false, false]);
  assert.deepEqual(
    rows.map(({ says }) => says),
    ["YES", "NO", "NO", "NO"],
  );
  // YES: ⅔ · 4 = 2.667 on one row; NO: ⅓ · 4 / 3 = 0.444 on each of three
  for (const [i, want] of [8 / 3, 4 / 9, 4 / 9, 4 / 9].entries())
    assert.ok(Math.abs(rows[i]!.weight[0]! - want) < 1e-6);
  assert.deepEqual(rows[0]!.info, ["verifier", "verifier", "demonstrated", "0"]);
  assert.ok(rows.every(({ targets }) => targets === 1));
});

test("withVerdictRows: one label alone weighs 1 each; what does not fit is left out", async () => {
  assert.deepEqual(
    (await rowsFor([false, false])).map(({ weight }) => weight),
    [[1], [1]],
  );
  assert.deepEqual(await rowsFor([true], 4), []);
});
