/** Shared tests of objectives: cotangents match finite differences, parts add up, tokens of weight 0 have no effect. */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { gather, selectRows, togetherGroups, withColumns } from "../../src/common/tokens/pack.ts";
import type { Batch } from "../../src/core/batch.ts";
import type { Ctx } from "../../src/core/context.ts";
import type { Objective } from "../../src/core/objective.ts";
import type { Cotangents, Outputs, Wanted } from "../../src/core/outputs.ts";
import { batchOfRows, ctxOf, type RowSpec } from "../core/make.ts";

const token = fc.record({
  old: fc.double({ min: -3, max: -0.1, noNaN: true }),
  now: fc.double({ min: -0.8, max: 0.8, noNaN: true }),
  advantage: fc.constantFrom(-1.5, -0.5, 0.75, 2),
  weight: fc.constantFrom(0, 1, 1, 0.5),
  turn: fc.constantFrom(0, 1),
});
const row = fc.record({
  tokens: fc.array(token, { minLength: 1, maxLength: 5 }),
  group: fc.constantFrom("a", "b", "dead"),
});

function make(
  rows: readonly {
    tokens: readonly { old: number; now: number; advantage: number; weight: number; turn: number }[];
    group: string;
  }[],
) {
  const specs = rows.map(
    ({ tokens, group }): RowSpec => ({
      group,
      behaviour: tokens.map((t) => t.old),
      advantage: tokens.map((t) => (group === "dead" ? 0 : t.advantage)),
      weight: tokens.map((t) => t.weight),
      turn: tokens.map((t) => t.turn).toSorted((a, b) => a - b),
    }),
  );
  const batch = batchOfRows(specs);
  const reference = batch.behaviour_A.map((x, a) => x + ((a % 3) - 1) / 4);
  const logp = Float32Array.from(rows.flatMap(({ tokens }) => tokens.map((t) => t.old + t.now)));
  const outputs: Outputs = { logp, entropy: logp.map((x) => -x / 2), heads: {} };
  return { batch: withColumns(batch, { "reference.logp": reference }), outputs };
}

/** The outputs with log-probabilities at the ids that an objective wants, if it wants any: a bucket of 3/8 or more is left. */
function withWanted(outputs: Outputs, { at }: Wanted): Outputs {
  if (!at) return outputs;
  const share = (i: number): number => (1 + ((3 * i) % 5)) / (8 * at.width);
  return { ...outputs, at: Float32Array.from(at.ids, (_, i) => Math.log(share(i))) };
}

type Which = "logp" | "entropy" | "at";

/** The kind of output that an objective has cotangents for; it is tested with that. */
const whichOf = ({ at, entropy, logp }: Cotangents): Which =>
  at ? "at" : entropy && !logp ? "entropy" : "logp";

/**
 * Tests an objective of log-probabilities, or of those at given ids or of entropies if it has cotangents for them.
 * @param columns further columns of the batch, each [A].
 * @param parts the auxiliary parts that its `prepare` reads from the context.
 */
export function agrees(
  name: string,
  // biome-ignore lint/suspicious/noExplicitAny: rows of one table, each with its own aux
  objective: Objective<any>,
  columns: (batch: Batch) => Readonly<Record<string, Float32Array>> = () => ({}),
  parts: (batch: Batch) => Partial<Ctx> = () => ({}),
): void {
  const made = (rows: Parameters<typeof make>[0]) => {
    const { batch, outputs } = make(rows);
    return { batch: withColumns(batch, columns(batch)), outputs };
  };
  test(`${name}: cotangents are the slope of the loss`, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 4 }), async (rows) => {
        const { batch, outputs: some } = made(rows);
        const aux = await objective.prepare(ctxOf(parts(batch)), batch);
        const outputs = withWanted(some, objective.wants(aux, batch));
        const { cotangents } = objective.evaluate(outputs, batch, aux);
        const which = whichOf(cotangents);
        const xs = outputs[which]!;
        for (let a = 0; a < xs.length; a++) {
          const h = 1e-5;
          const at = (d: number): number => {
            // float64, so that finite differences are precise enough; the objective accepts any numbers
            const moved = Float64Array.from(xs) as unknown as Float32Array;
            moved[a] = xs[a]! + d;
            return objective.evaluate({ ...outputs, [which]: moved }, batch, aux).loss;
          };
          const slope = (at(h) - at(-h)) / (2 * h);
          const [left, right] = [(at(0) - at(-h)) / h, (at(h) - at(0)) / h];
          if (Math.abs(left - right) > 1e-3) continue; // the kink of a clip has two slopes
          const got = cotangents[which]?.[a] ?? 0;
          assert.ok(
            Math.abs(got - slope) <= 1e-6 * Math.max(1, Math.abs(slope)),
            `[${a}] ${got}, expected ${slope}`,
          );
        }
      }),
      { seed: 1, numRuns: 25 },
    );
  });

  test(`${name}: parts add up to the whole`, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(row, { minLength: 2, maxLength: 5 }), async (rows) => {
        const { batch, outputs: some } = made(rows);
        const aux = await objective.prepare(ctxOf(parts(batch)), batch);
        const outputs = withWanted(some, objective.wants(aux, batch));
        const whole = objective.evaluate(outputs, batch, aux);
        const which = whichOf(whole.cotangents);
        const width = which === "at" ? outputs.at!.length / batch.target_A.length : 1;
        const added = new Float32Array(outputs[which]!.length);
        let loss = 0;
        for (const rowsOf of togetherGroups(batch, objective.together)) {
          const part = selectRows(batch, rowsOf);
          const own = {
            logp: gather(outputs.logp, part.index_A),
            entropy: gather(outputs.entropy!, part.index_A),
            ...(outputs.at && { at: gather(outputs.at, part.index_A, width) }),
            heads: {},
          };
          const evaluated = objective.evaluate(own, part, aux);
          loss += evaluated.loss;
          const cotangent = evaluated.cotangents[which]!;
          part.index_A.forEach((place, a) => {
            added.set(cotangent.subarray(a * width, (a + 1) * width), place * width);
          });
        }
        assert.ok(Math.abs(loss - whole.loss) < 1e-9);
        assert.deepEqual([...added], [...whole.cotangents[which]!]);
      }),
      { seed: 2, numRuns: 25 },
    );
  });

  test(`${name}: tokens without weight change nothing, and nothing is NaN when all are without`, async () => {
    const { batch, outputs: some } = made([
      { group: "a", tokens: [{ old: -1, now: 0.1, advantage: 2, weight: 0, turn: 0 }] },
    ]);
    const aux = await objective.prepare(ctxOf(parts(batch)), batch);
    const outputs = withWanted(some, objective.wants(aux, batch));
    const { loss, cotangents } = objective.evaluate(outputs, batch, aux);
    assert.ok(loss === 0);
    for (const xs of [cotangents.logp, cotangents.entropy, cotangents.at])
      assert.ok(xs?.every((x) => x === 0) ?? true);
  });
}
