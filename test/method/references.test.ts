// Losses and gradients of the baselines against those that TRL and verl compute from the same numbers, from rewards to
// cotangents: bench/peers/losses.py runs the libraries' own code and writes the numbers. What differs on purpose is stated
// in `differs` and in the docstring of the piece; with that difference taken away the two agree, and without it they do not.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { batchOf, withColumns } from "../../src/common/tokens/pack.ts";
import type { Batch } from "../../src/core/batch.ts";
import type { Frozen, Model } from "../../src/core/model.ts";
import type { Objective } from "../../src/core/objective.ts";
import type { Outputs } from "../../src/core/outputs.ts";
import type { Signal } from "../../src/core/signal.ts";
import type { Advantages } from "../../src/core/slots.ts";
import { findMethod } from "../../src/methods/catalogue.ts";
import { clippedRatio } from "../../src/objective/clippedRatio.ts";
import { klPenalty } from "../../src/objective/klPenalty.ts";
import { ctxOf, trajectoryOf, turnOf } from "../core/make.ts";

interface Result {
  readonly loss: number;
  /** One list for each attempt. */
  readonly cotangents: readonly (readonly number[])[];
}
interface Attempt {
  readonly group: number;
  readonly reward: number;
  readonly sampled: readonly number[];
  readonly now: readonly number[];
  readonly reference: readonly number[];
  readonly value: readonly number[];
  readonly valueNow: readonly number[];
}
interface References {
  readonly rows: readonly Attempt[];
  readonly pairs: readonly (readonly [chosen: number, rejected: number])[];
  readonly trl: Readonly<Record<string, Result>>;
  readonly verl: Readonly<Record<string, Result & { readonly critic?: Result }>>;
}

const references: References = JSON.parse(
  readFileSync(new URL("./fixtures/losses.data.json", import.meta.url), "utf8"),
);
const { rows, pairs } = references;

const trajectories = rows.map(({ group, sampled }, i) => {
  const logp = Float32Array.from(sampled);
  const action = Int32Array.from(sampled, () => 2);
  const tokens = { prompt: Int32Array.of(1), action, logp, behaviour: logp };
  return trajectoryOf(`${i}`, [turnOf([1], [...action], { tokens })], { task: `task ${group}` });
});
const units = trajectories.map((t) => ({ id: t.id, group: t.task, members: [t.id] }));
const tokens = rows.reduce((sum, row) => sum + row.sampled.length, 0);

const paid: readonly Signal[] = rows.map(({ reward }, i) => ({
  kind: "reward",
  channel: "outcome",
  about: [{ trajectory: `${i}`, turn: 0 }],
  source: "environment",
  value: reward,
}));
const preferred: readonly Signal[] = pairs.map((pair) => ({
  kind: "preference",
  channel: "preference",
  about: pair.map((i) => ({ trajectory: `${i}` })),
  source: "environment",
  best: 0,
}));

type Numbers = Exclude<keyof Attempt, "group" | "reward">;

/** The given numbers at the targets of a batch. */
const at = (name: Numbers, batch: Batch): Float32Array =>
  Float32Array.from(batch.rows.flatMap(({ trajectory }) => rows[Number(trajectory)]![name]));

interface Case {
  readonly name: string;
  readonly reference: Result | undefined;
  /** The method; its slots run from signals to cotangents. */
  readonly id: string;
  /** What we do otherwise, in words, and how to undo it. */
  readonly differs?: string;
  /** Factor of the advantages of an attempt that undoes the difference. */
  readonly advantages?: (row: Attempt) => number;
  /** Factor of the cotangents that undoes the difference. */
  readonly cotangents?: number;
  /** Weights of the tokens of an attempt that undo the difference. */
  readonly weights?: (row: Attempt) => number;
  readonly signals?: readonly Signal[];
  readonly now?: "now" | "sampled";
  /** The model of whose outputs these are the cotangents. Default: the policy. */
  readonly model?: "critic";
  /** In place of the method's own. */
  readonly objective?: readonly Objective[];
  /** "cotangents" where the values are surrogates with one gradient. Default "both". */
  readonly compares?: "both" | "cotangents";
}

/** Loss and cotangents of our method. @param undone whether the stated difference is taken away. */
async function ours(of: Case, undone: boolean): Promise<Result> {
  const { slots } = findMethod(of.id).build();
  const experience = { trajectories, units };
  const scored = (batch: Batch): Outputs => ({
    logp: at("reference", batch),
    heads: { value: at("value", batch) },
  });
  const model = { score: async (batch: Batch) => scored(batch) };
  // only their `score` is asked for, always with a whole batch
  const ctx = ctxOf({ model: () => model as unknown as Model, frozen: () => model as unknown as Frozen });
  const notes = Object.assign(
    {},
    ...(await Promise.all(slots.annotate.map((piece) => piece(ctx, experience)))),
  );
  const given = { ...experience, notes, signals: of.signals ?? paid };
  const evidence = { ...given, channels: Object.assign({}, ...slots.credit.map((piece) => piece(given))) };

  let soFar: Advantages | undefined;
  const columns: Record<string, Advantages> = {};
  for (const piece of slots.advantage) {
    const made = piece.apply(evidence, piece.init(), soFar);
    soFar = made.advantages;
    Object.assign(columns, made.columns);
  }
  const factor = (undone && of.advantages) || (() => 1);
  const advantages = new Map(
    [...soFar!].map(([id, own]) => [id, own.map((a) => a * factor(rows[Number(id)]!))]),
  );
  const packed = batchOf(trajectories, units, advantages, [], columns).batch;
  const weight = (undone && of.weights) || (() => 1);
  const weights = packed.rows.flatMap(({ trajectory }) => {
    const row = rows[Number(trajectory)]!;
    return row.sampled.map(() => weight(row));
  });
  const batch = { ...packed, weight_A: Float32Array.from(weights) };

  let loss = 0;
  const sum_A = new Float64Array(batch.target_A.length);
  const outputs: Outputs = { logp: at(of.now ?? "now", batch), heads: { value: at("valueNow", batch) } };
  for (const objective of of.objective ?? slots.objective) {
    if (objective.model !== of.model) continue;
    const whole = withColumns(batch, (await objective.columns?.(ctx, batch)) ?? {});
    const evaluated = objective.evaluate(outputs, whole, await objective.prepare(ctx, whole));
    const { logp, heads } = evaluated.cotangents;
    loss += evaluated.loss;
    (of.model ? heads!.value! : logp!).forEach((x, a) => {
      sum_A[a]! += x * (undone ? (of.cotangents ?? 1) : 1);
    });
  }
  const cotangents = rows.map((row) => row.sampled.map(() => 0));
  batch.rows.forEach(({ trajectory }, r) => {
    const own = sum_A.subarray(batch.targetOffset[r]!, batch.targetOffset[r + 1]!);
    cotangents[Number(trajectory)] = [...own];
  });
  return { loss, cotangents };
}

/** Largest difference of any number. */
function gap(a: Result, b: Result, compares: Case["compares"]): number {
  const [x, y] = [a.cotangents.flat(), b.cotangents.flat()];
  assert.equal(x.length, y.length);
  const gaps = x.map((value, i) => Math.abs(value - y[i]!));
  return Math.max(...gaps, compares === "cotangents" ? 0 : Math.abs(a.loss - b.loss));
}

/** Deviation of the rewards of an attempt's group, with divisor n − `less`. */
function deviation({ group }: Attempt, less: number): number {
  const own = rows.filter((row) => row.group === group).map((row) => row.reward);
  const mean = own.reduce((a, b) => a + b, 0) / own.length;
  return Math.sqrt(own.reduce((sum, r) => sum + (r - mean) ** 2, 0) / (own.length - less));
}

/** From our deviation to one with divisor n − 1, to which epsilon is added. */
const sampleDeviation =
  (epsilon: number) =>
  (row: Attempt): number =>
    deviation(row, 0) / (deviation(row, 1) + epsilon);
const trlDeviation = {
  differs: "we divide by the deviation with divisor G; TRL by that with divisor G − 1, plus 1e-4",
  advantages: sampleDeviation(1e-4),
};
const verlDeviation = {
  differs: "we divide by the deviation with divisor G; verl by that with divisor G − 1, plus 1e-6",
  advantages: sampleDeviation(1e-6),
};
const verlWhitened = {
  differs: "we whiten with the deviation of divisor n, n the tokens of the batch; verl with divisor n − 1",
  advantages: () => Math.sqrt((tokens - 1) / tokens),
};

const { trl, verl } = references;
const ids = (of: Readonly<Record<string, Result>>, names: readonly string[], more: Partial<Case>): Case[] =>
  names.map((id) => ({ name: id, id, reference: of[id], ...more }));

const againstTrl: readonly Case[] = [
  ...ids(trl, ["grpo", "dapo", "gspo", "cispo"], trlDeviation),
  ...ids(trl, ["dr-grpo", "kto", "sft"], {}),
  ...ids(trl, ["dpo"], { signals: preferred }),
  {
    name: "grpo with the paper's mean over attempts",
    id: "grpo",
    reference: trl["grpo, mean over rows"],
    objective: [clippedRatio({ normaliser: "rows" })],
    ...trlDeviation,
  },
  {
    name: "grpo with a penalty (k3)",
    id: "grpo",
    reference: trl["grpo, k3 penalty"],
    objective: [clippedRatio(), klPenalty({ coefficient: 0.04 })],
    ...trlDeviation,
  },
  {
    name: "rloo",
    id: "rloo",
    reference: trl.rloo,
    now: "sampled",
    compares: "cotangents",
    differs: "we take the mean over the tokens of the batch; TRL over attempts of the sum over tokens",
    cotangents: tokens / rows.length,
  },
  {
    name: "ipo",
    id: "ipo",
    reference: trl.ipo,
    signals: preferred,
    differs: "we sum over a reply's tokens, as the paper does; TRL takes their mean",
    weights: (row) => 1 / row.sampled.length,
  },
];
const againstVerl: readonly Case[] = [
  ...ids(verl, ["grpo", "dapo", "gspo", "cispo"], verlDeviation),
  ...ids(verl, ["rloo"], { now: "sampled", compares: "cotangents" }),
  ...ids(verl, ["reinforce-plus-plus", "ppo"], verlWhitened),
  { name: "ppo's critic", id: "ppo", reference: verl.ppo?.critic, model: "critic" },
];

for (const [library, cases] of Object.entries({ trl: againstTrl, verl: againstVerl })) {
  for (const one of cases) {
    test(`${one.name} agrees with ${library}${one.differs ? `, but that ${one.differs}` : ""}`, async () => {
      const { reference, compares } = one;
      assert.ok(reference, "the fixture has no such case");
      assert.ok(reference.cotangents.flat().filter((x) => x !== 0).length > 5, "a gradient to compare");
      const undone = gap(await ours(one, true), reference, compares);
      assert.ok(undone < 1e-5, `they differ by ${undone}`);
      if (one.differs) assert.ok(gap(await ours(one, false), reference, compares) > 1e-4, "no difference");
    });
  }
}

test("every baseline that has a reference is compared with it", () => {
  const compared = new Set([...againstTrl, ...againstVerl].map(({ reference }) => reference));
  for (const library of [trl, verl])
    for (const [name, result] of Object.entries(library)) assert.ok(compared.has(result), name);
});
