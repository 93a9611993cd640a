import assert from "node:assert/strict";
import { test } from "node:test";
import { ctxWith, evidenceOf, trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import { groupNormalised } from "../../../advantage/groupNormalised.ts";
import type { Counter } from "../../../core/counter.ts";
import { type Able, type Attempt, evaluatorIn, scorer } from "../../../core/evaluator.ts";
import type { Trajectory } from "../../../core/types.ts";
import { judged, noisyJudge } from "./judged.ts";

const ended = (id: string, success: boolean) =>
  trajectoryOf(id, [turnOf([1], [2])], { end: { kind: "done", reason: "over", success } });

async function asked(said: readonly (number | undefined)[]) {
  const counts = new Map<Counter, number>();
  const ctx = ctxWith({}, { count: (name, n) => void counts.set(name, (counts.get(name) ?? 0) + n) });
  let call = 0;
  const judge = scorer<Attempt>("judge", async () => said[call++]);
  const experience = { trajectories: [ended("t", true)], units: [] };
  const signals = await judged({ judge, calls: said.length, weight: 2 })(ctx, experience, {});
  return {
    values: signals.map((s) => (s.kind === "score" ? s.value : Number.NaN)),
    calls: counts.get("judge.calls"),
    failures: counts.get("judge.failures"),
  };
}

test("judged: what most calls say; failures are counted and left out, and silence is no 0", async () => {
  assert.deepEqual(await asked([1, 0, 1]), { values: [2], calls: 3, failures: undefined });
  assert.deepEqual(await asked([0, 1, 0]), { values: [0], calls: 3, failures: undefined });
  assert.deepEqual(await asked([0.2, 0.9, 0.4]), { values: [0.8], calls: 3, failures: undefined });
  assert.deepEqual(await asked([1, undefined, 0]), { values: [1], calls: 3, failures: 1 }); // ½ of 2: they disagree
  assert.deepEqual(await asked([undefined, undefined]), { values: [], calls: 2, failures: 2 });
});

test("noisyJudge: errs and fails as often as asked, the majority of three less often, equal seeds alike", async () => {
  const ctx = ctxWith({});
  const ask = async (judge: Able<"score">, t: Trajectory) =>
    (await evaluatorIn(ctx, judge).score(t, ctx.random.split("judge", t.id, 0)))?.score;
  const noisy = noisyJudge({ error: 0.2, failure: 0.1 });
  const n = 3000;
  let [wrong, failed] = [0, 0];
  for (let i = 0; i < n; i++) {
    const t = ended(`t${i}`, i % 2 === 0);
    const said = await ask(noisy, t);
    assert.equal(await ask(noisy, t), said);
    if (said === undefined) failed++;
    else if (said !== (i % 2 === 0 ? 1 : 0)) wrong++;
  }
  // deviations 0.0055 and 0.007
  assert.ok(Math.abs(failed / n - 0.1) < 0.025, String(failed / n));
  assert.ok(Math.abs(wrong / (n - failed) - 0.2) < 0.03, String(wrong / (n - failed)));
  const trajectories = Array.from({ length: n }, (_, i) => ended(`t${i}`, true));
  const signals = await judged({ judge: noisyJudge({ error: 0.2 }) })(ctx, { trajectories, units: [] }, {});
  // 3 · 0.2² · 0.8 + 0.2³ = 0.104, deviation 0.0056
  const erring = signals.filter((s) => s.kind === "score" && s.value === 0).length / n;
  assert.ok(Math.abs(erring - 0.104) < 0.025, String(erring));
});

test("an advantage that requires the judge leaves out what it was silent about", () => {
  const annotated = evidenceOf([[0.1, 0.2, 0.3]]);
  const judge = [
    { at: { trajectory: "0.0" }, value: 1 },
    { at: { trajectory: "0.1" }, value: 0 },
  ];
  const channels = { ...annotated.channels, judge };
  const { advantages } = groupNormalised({ required: ["judge"] }).apply(
    { ...annotated, channels },
    null,
    undefined,
  );
  // 1.1 and 0.2: one deviation of 0.45 above and below their mean; the third is in no group
  assert.deepEqual([...advantages.keys()], ["0.0", "0.1"]);
  assert.ok(advantages.get("0.0")!.every((a) => Math.abs(a - 1) < 1e-6));
});
