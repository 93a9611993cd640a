import assert from "node:assert/strict";
import { test } from "node:test";
import { ctxWith, trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import { scorer } from "../../../core/evaluator.ts";
import type { Json } from "../../../core/json.ts";
import { randomStream } from "../../../core/random.ts";
import { bradleyTerry } from "../../../helper/bradleyTerry.ts";
import { critiqueModel } from "./critiqueModel.ts";
import { critiquesOf } from "./texts.ts";
import { checkedPairs, critiqueScore, focalWeight, mergedUnits } from "./units.ts";

const unit = (key: string, accepted = true) => ({ key, accepted });

test("accepted units are merged once; a score has penalties for wrong and for missed ones", () => {
  const critiques = [[unit("a"), unit("b", false)], [unit("a"), unit("c")], []];
  const merged = mergedUnits(critiques);
  assert.deepEqual([...merged], ["a", "c"]);
  // one wrong, c missed;  nothing wrong or missed;  two missed
  assert.deepEqual(
    critiques.map((units) => critiqueScore(units, merged)),
    [-1.5, -0, -1],
  );
  assert.ok(
    critiqueScore(critiques[2]!, merged) < critiqueScore(critiques[1]!, merged),
    "an empty critique does not win",
  );
  assert.equal(critiqueScore([], merged, { missed: 0 }), -0);
});

test("a pair counts where score and revisions agree", () => {
  const [a, b, c] = [
    { score: 0, revised: 0.5 },
    { score: -1, revised: 0.9 },
    { score: -2, revised: 0.1 },
  ] as const;
  assert.deepEqual(checkedPairs([a, b, c]), [
    [a, c],
    [b, c],
  ]);
  assert.deepEqual(checkedPairs([c, b, a], false), [
    [b, c],
    [a, c],
    [a, b],
  ]);
  assert.deepEqual(checkedPairs([a, { ...a, revised: 1 }]), []);
});

test("what the model is sure of counts little, what it has wrong counts whole", () => {
  assert.deepEqual(
    [0, 0.5, 0.75, 1].map((p) => focalWeight(p, 2)),
    [1, 1, 0.25, 0],
  );
  assert.equal(focalWeight(0.9, 0), 1);
});

test("the reward model learns from confirmed pairs alone, and pays every critique", async () => {
  const critique = (id: string, content: string, rating: number) =>
    trajectoryOf(id, [
      turnOf([1], [2], {
        prompt: [{ role: "user", content: "text" }],
        action: { role: "assistant", content },
        rewards: { rating },
      }),
    ]);
  const memory = new Map<string, Json>();
  const model = bradleyTerry()(randomStream(1));
  const ctx = ctxWith(
    {},
    {
      helper: () => model as never,
      memory: { get: (key) => memory.get(key), set: (key, value) => void memory.set(key, value) },
    },
  );
  // the meta-judge likes "sharp" and "loud" alike; revisions confirm only "sharp"
  const metaJudge = scorer(
    "meta-judge",
    async ({
      trajectory,
    }: {
      readonly trajectory: { readonly turns: readonly { readonly action: { readonly content: string } }[] };
    }) => Number(trajectory.turns[0]!.action.content !== "dull"),
  );
  const all = [critique("1", "sharp", 1), critique("2", "dull", 0.5), critique("3", "loud", 0)];
  const units = all.map(({ id }) => ({ id, group: "attempt", members: [id] }));
  const signals = await critiqueModel({ metaJudge })(ctx, { trajectories: all, units }, {});
  const paid = Object.fromEntries(
    signals.map((s) => [s.about[0]!.trajectory, s.kind === "score" ? s.value : 0]),
  );
  assert.ok(paid["1"]! > 0 && paid["2"]! < 0, JSON.stringify(paid));
  assert.ok(Math.abs(paid["3"]!) < 1e-9, "no pair with it was confirmed");
  const alone = await critiqueModel({ metaJudge })(
    ctxWith(
      {},
      {
        helper: () => bradleyTerry()(randomStream(1)) as never,
        memory: { get: () => undefined, set: () => {} },
      },
    ),
    { trajectories: all.slice(0, 1), units: units.slice(0, 1) },
    {},
  );
  assert.deepEqual(alone, []);
});

test("texts: three of ten places have an error, and a critique is worth its finds less half its false alarms", () => {
  let [errors, all] = [0, 0];
  for (let i = 0; i < 300; i++) {
    const [first] = critiquesOf(1, i);
    const words = first!.asked.split(" ");
    errors += words.filter((word) => word.startsWith("s")).length;
    all += words.length;
    const flagged = first!.replied.split(" ").filter((word) => word !== "");
    const found = flagged.filter((word) => words.includes(`s${word.slice(1)}`)).length;
    assert.equal(first!.worth, found - (flagged.length - found) / 2);
  }
  assert.ok(Math.abs(errors / all - 0.3) < 0.03, `${errors / all}`); // deviation 0.008
});
