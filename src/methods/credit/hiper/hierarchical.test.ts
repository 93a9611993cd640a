import assert from "node:assert/strict";
import { test } from "node:test";
import { trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import type { AnnotatedExperience } from "../../../core/slots.ts";
import { type HierarchicalOptions, hierarchical } from "./hierarchical.ts";

interface Told {
  readonly says: string;
  readonly reward?: number;
  readonly high: number;
  readonly low: number;
  readonly term: number;
}

/** One trajectory whose turns have a switch, a sub-goal and an action token, with values at the first and the third. */
function evidenceOf(turns: readonly Told[], block: readonly number[] = [1, 2, 3]): AnnotatedExperience {
  const t = trajectoryOf(
    "t",
    turns.map(({ says }, k) => turnOf([1, k], [2, 3, 4], { action: { role: "assistant", content: says } })),
  );
  const note = (of: (turn: Told) => readonly number[]) =>
    new Map([["t", Float32Array.from(turns.flatMap(of))]]);
  return {
    trajectories: [t],
    units: [{ id: "t", group: "task", members: ["t"] }],
    notes: {
      high: note(({ high }) => [high, 9, 9]),
      low: note(({ low }) => [9, 9, low]),
      term: note(({ term }) => [term, 9, 9]),
      block: note(() => block),
    },
    signals: [],
    channels: {
      outcome: turns.flatMap(({ reward }, turn) =>
        reward === undefined ? [] : [{ at: { trajectory: "t", turn }, value: reward }],
      ),
    },
  };
}

function apply(annotated: AnnotatedExperience, options: HierarchicalOptions = {}) {
  const { advantages, columns, stats } = hierarchical(options).apply(annotated, null, undefined);
  const column = (head: string): number[] => [...(columns![`return.${head}`]!.get("t") ?? [])];
  return { advantage: [...(advantages.get("t") ?? [])], column, stats, columns: columns! };
}

function near(got: readonly number[], want: readonly number[]): void {
  assert.equal(got.length, want.length);
  want.forEach((w, i) => {
    const same = Number.isNaN(w) ? Number.isNaN(got[i]!) : Math.abs(got[i]! - w) < 1e-5;
    assert.ok(same, `[${i}] of ${got}: expected ${w}`);
  });
}

const _ = Number.NaN;
const half = { discount: 0.5, lambda: { turns: 0.5, segments: 0.5 } };
const two: readonly Told[] = [
  { says: "<switch>SWITCH</switch>", high: 1, low: 1, term: 0.5 },
  { says: "<switch>KEEP</switch>", reward: 2, high: 7, low: 1, term: 0.5 },
  { says: "<switch> switch </switch>", reward: 4, high: 2, low: 1, term: 0.5 },
];

test("two segments are worked by hand", () => {
  // segment 2, turn 2: low 4 − 1 = 3; term 4 − 0.5 = 3.5; high 4 − 2 = 2
  // segment 1, turn 1: low 2 + 0.5 · V_high 2 − 1 = 2; term (2 + 0.5 · 2) − 0.5 = 2.5
  //   turn 0: low 0 + 0.5 · 1 − 1 + 0.25 · 2 = 0; term 0.5 · 3 − 0.5 = 1
  //   high: R = 0.5 · 2; 1 + 0.25 · 2 − 1 = 0.5, and 0.25 · 0.5 · 2 of the next: 0.75
  const { advantage, column, stats } = apply(evidenceOf(two), half);
  near(column("low"), [_, _, 0 + 1, _, _, 2 + 1, _, _, 3 + 1]);
  near(column("term"), [1 + 0.5, _, _, 2.5 + 0.5, _, _, 3.5 + 0.5, _, _]);
  near(column("high"), [0.75 + 1, _, _, _, _, _, 2 + 2, _, _]);
  // low: mean 5/3, std √14/3. term: mean 7/3, std √(19/18). high: mean 1.375, std 0.625
  const low = (x: number): number => (x - 5 / 3) / (Math.sqrt(14) / 3);
  const term = (x: number): number => (x - 7 / 3) / Math.sqrt(19 / 18);
  near(advantage, [term(1), -1, low(0), term(2.5), 0, low(2), term(3.5), 1, low(3)]);
  assert.deepEqual(stats, { segments: 2, switches: 1 / 3 });
});

test("without discount and with λ = 1 every target is what was paid until the next plan, and that plan's value", () => {
  const { column } = apply(evidenceOf(two), { lambda: { turns: 1, segments: 1 } });
  near(column("low"), [_, _, 2 + 2, _, _, 2 + 2, _, _, 4]);
  near(column("term"), [2 + 2, _, _, 2 + 2, _, _, 4, _, _]);
  // without discount the plan's target is all that was paid after it
  near(column("high"), [2 + 4, _, _, _, _, _, 4, _, _]);
});

test("a later segment's reward does not reach the actions of an earlier one", () => {
  const changed = two.map((turn, k) => (k === 2 ? { ...turn, reward: -50 } : turn));
  const [before, after] = [two, changed].map((turns) => apply(evidenceOf(turns), half));
  assert.deepEqual(before!.column("low").slice(0, 6), after!.column("low").slice(0, 6));
  assert.notEqual(before!.column("high")[0], after!.column("high")[0]);
});

test("a turn without action tokens is action as a whole, and keeps its plan", () => {
  const plain = [{ says: "nonsense", reward: 1, high: 0, low: 0, term: 0 }];
  const annotated = evidenceOf([...plain, ...plain.map((t) => ({ ...t, reward: 3 }))], [0, 0, 0]);
  const { advantage, column, stats } = apply(annotated, { lambda: { turns: 0, segments: 0 } });
  // low is read before the first token, where the note says 9: 1 + 9 − 9 = 1 and 3 − 9 = −6
  near(column("low"), [10, _, _, 3, _, _]);
  near(advantage, [1, 1, 1, -1, -1, -1]);
  assert.deepEqual(stats, { segments: 1, switches: 0 });
});

test("without credits nothing is said; equal advantages are 0; what is there is added to", () => {
  const silent = two.map(({ reward: _reward, ...turn }) => turn);
  const none = apply(evidenceOf(silent));
  assert.deepEqual([none.advantage, none.stats], [[], {}]);
  const alone = evidenceOf([two[2]!]);
  assert.deepEqual(apply(alone).advantage, [0, 0, 0]);
  const soFar = new Map([["t", Float32Array.of(1, 2, 3)]]);
  const { advantages } = hierarchical().apply(alone, null, soFar);
  assert.deepEqual([...advantages.get("t")!], [1, 2, 3]);
});
