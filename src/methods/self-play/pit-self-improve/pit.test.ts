import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Trajectory } from "../../../core/types.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { codewords } from "../../../env/codewords.ts";
import { trainInMemory } from "../../../train/trainInMemory.ts";
import { gapLoss, gapReward } from "./gapReward.ts";
import { curriculum, draftMessage } from "./improving.ts";
import { pitSelfImprove } from "./method.ts";

const near = (got: number, want: number, within = 1e-9): void =>
  assert.ok(Math.abs(got - want) < within, `${got} for ${want}`);

test("gapLoss: five ordered pairs by hand", () => {
  near(gapLoss(0, 0).loss, 5 * Math.LN2);
  // 2 ln(1 + e^−1) + 2 ln(1 + e^0) + ln(1 + e^−1)
  near(gapLoss(1, 0).loss, 3 * Math.log(1 + Math.exp(-1)) + 2 * Math.LN2);
  near(gapLoss(1, 2, false).loss, Math.log(1 + Math.exp(-3)));
});

test("gapLoss: slopes agree with finite differences", () => {
  const margin = fc.double({ min: -4, max: 4, noNaN: true });
  const h = 1e-5;
  fc.assert(
    fc.property(margin, margin, fc.boolean(), (u, v, ties) => {
      const { du, dv } = gapLoss(u, v, ties);
      near(du, (gapLoss(u + h, v, ties).loss - gapLoss(u - h, v, ties).loss) / (2 * h), 1e-6);
      near(dv, (gapLoss(u, v + h, ties).loss - gapLoss(u, v - h, ties).loss) / (2 * h), 1e-6);
    }),
    { seed: 1, numRuns: 100 },
  );
});

const pair = (first: string, second: string) => ({ x: { asked: "q", first, second }, y: 1, weight: 1 });

test("gapReward: the better over the worse, nothing over itself, and the order of arguments counts", async () => {
  const model = gapReward({ steps: 200 });
  await model.fit([pair("a b", "a c"), pair("a b", "d b")]);
  const [up, same, down, unknown] = await model.predict([
    { asked: "q", first: "a b", second: "d c" },
    { asked: "q", first: "a b", second: "a b" },
    { asked: "q", first: "d c", second: "a b" },
    { asked: "another", first: "a b", second: "d c" },
  ]);
  assert.ok(up! > same! && same! > down!);
  near(same!, 0, 0.2 * (up! - down!)); // the ties hold both sides against each other
  assert.equal(unknown, 0);
  const copy = gapReward();
  copy.load(model.save());
  assert.deepEqual(await copy.predict([{ asked: "q", first: "a b", second: "d c" }]), [up]);
});

test("curriculum: worse, better, own", () => {
  assert.deepEqual([0, 0.3, 0.4, 0.6, 0.7, 0.99].map(curriculum), [
    "worse",
    "worse",
    "better",
    "better",
    "own",
    "own",
  ]);
});

test("new answers read their reference and are paid the gap; drafts are in no unit", async () => {
  const found: { readonly t: Trajectory; readonly isUnit: boolean; readonly paid: number | undefined }[] = [];
  await trainInMemory({
    environment: codewords({ questions: 2, length: 2, vocabulary: 4 }),
    engine: tabularEngine({ prior: (_context, word) => (/^w\d$/.test(word) ? 0 : -1e9) }),
    method: pitSelfImprove.build({ tasks: 2, groupSize: 4, learningRate: 0 }),
    seed: 1,
    iterations: 3,
    onIteration: ({ experience, advantages }) => {
      const member = new Set(experience.units.flatMap(({ members }) => members));
      for (const t of experience.trajectories)
        found.push({ t, isUnit: member.has(t.id), paid: advantages.get(t.id)?.[0] });
    },
  });
  const units = found.filter(({ isUnit }) => isUnit);
  assert.equal(units.length, 3 * 2 * 4);
  for (const { t, paid } of units) {
    assert.match(t.turns[0]!.prompt.at(-1)!.content, /^draft w\d w\d$/);
    assert.equal(typeof paid, "number");
  }
  for (const { t, paid } of found.filter(({ isUnit }) => !isUnit)) {
    assert.equal(paid, undefined);
    assert.ok(t.turns[0]!.model === "reference" || t.turns[0]!.prompt.length === 2);
  }
  assert.equal(draftMessage(" w1 w2 ").content, "draft w1 w2");
});
