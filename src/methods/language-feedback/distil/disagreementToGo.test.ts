import assert from "node:assert/strict";
import { test } from "node:test";
import { ctxOf, trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import { divergenceAt } from "../../../common/statistics/divergence.ts";
import { type Hindsight, hindsightNotes } from "../../../common/tokens/hindsight.ts";
import { batchOf, pairRows } from "../../../common/tokens/pack.ts";
import type { Trajectory } from "../../../core/types.ts";
import { vocabularyCodec } from "../../../engine/tabular/codec.ts";
import { addScaled, type ByContext, possibleActions } from "../../../engine/tabular/exact.ts";
import { tabularModel } from "../../../engine/tabular/model.ts";
import { newWeights } from "../../../engine/tabular/weights.ts";
import { distillation } from "../../../objective/distillation.ts";
import { policyGradient } from "../../../objective/policyGradient.ts";
import { disagreementToGo } from "./disagreementToGo.ts";

const codec = vocabularyCodec(["a b"]);
const prompt = codec.open([{ role: "user", content: "a" }]);
const ids = [codec.endId, ...codec.encode("a b")];
const steps = 3;
const unlikely = -30;

/** Replies of three words a and b. Every context has a row of its own, with some logits. */
const student = tabularModel(
  "policy",
  newWeights(codec, Number.POSITIVE_INFINITY, (context, word) =>
    word === "<end>" ? unlikely : word === "a" ? 0.3 * context.length - 1.2 : Math.sin(context.length),
  ),
  16,
);

/** A teacher that likes a, the less the more of them stand there. It is a constant: what the student learns moves it not. */
const teacherAt = (before: Int32Array): Float32Array => {
  const a = 0.9 - 0.3 * before.filter((id) => id === ids[1]).length;
  return Float32Array.of(unlikely, Math.log(a), Math.log(1 - a));
};

/** What the student says of a reply's tokens now. */
async function hindsight(reply: Int32Array): Promise<Hindsight> {
  const rows = pairRows([{ prompt, target: reply }]);
  const wide = { ids: Int32Array.from([...reply].flatMap(() => ids)), width: ids.length };
  const said = await student.score(rows, { at: wide });
  const teacher_AK = Float32Array.from(
    [...reply.keys()].flatMap((a) => [...teacherAt(reply.subarray(0, a))]),
  );
  const written = reply.map((id, a) => teacher_AK[a * ids.length + ids.indexOf(id)]!);
  return {
    k: ids.length,
    written_A: Float32Array.from(written),
    ids_AK: Float32Array.from(wide.ids),
    teacher_AK,
    student_AK: said.at!,
  };
}

/** Expected sum over a rollout of KL(teacher ‖ student). */
async function expected(): Promise<number> {
  let sum = 0;
  for (const { action, probability } of possibleActions(student, prompt, steps)) {
    if (action.length < steps) continue; // ended early: next to impossible
    const { student_AK, teacher_AK } = await hindsight(action);
    for (let a = 0; a < steps; a++) {
      const at = (xs: Float32Array): Float32Array => xs.subarray(a * ids.length, (a + 1) * ids.length);
      sum += probability * divergenceAt("forward", at(student_AK), at(teacher_AK)).value;
    }
  }
  return sum;
}

test("imitation and the term for later steps together have the gradient of the expected sum of divergences", async () => {
  const replies = possibleActions(student, prompt, steps).filter((r) => r.action.length === steps);
  const attempts = await Promise.all(
    replies.map(async ({ action, probability }, i) => {
      const tokens = {
        prompt,
        action,
        logp: new Float32Array(steps),
        behaviour: new Float32Array(steps),
      };
      return { id: `y${i}`, probability, said: await hindsight(action), turn: turnOf([], [], { tokens }) };
    }),
  );
  const normaliser = { constant: 1 } as const;
  const imitation = distillation({ divergence: "forward", normaliser });
  const later = policyGradient({ normaliser });
  const gradient: ByContext = new Map();
  // two rollouts of a group; each takes half of itself into the baseline, so that the later steps count double here
  for (const y of attempts) {
    for (const z of attempts) {
      const pair = [y, z].map((of, i): [Trajectory, Hindsight] => [
        trajectoryOf(`${of.id}.${i}`, [of.turn]),
        of.said,
      ]);
      const trajectories = pair.map(([t]) => t);
      const units = trajectories.map((t) => ({ id: t.id, group: "task", members: [t.id] }));
      const notes = hindsightNotes("teacher", new Map(pair.map(([t, said]) => [t.id, said])));
      const evidence = { trajectories, units, notes, signals: [], channels: {} };
      const made = disagreementToGo({ weight: 2 }).apply(evidence, null, undefined);
      const { batch } = batchOf(trajectories, units, made.advantages, [], made.columns);
      await student.accumulate(batch, imitation, await imitation.prepare(ctxOf({}), batch), "pair");
      await student.accumulate(batch, later, await later.prepare(ctxOf({}), batch), "pair");
      addScaled(gradient, student.gradientByContext("pair"), y.probability * z.probability);
      student.weights.part("logits").drop("gradient.pair");
    }
  }
  const table = student.weights.part("logits");
  const logits = table.array("weights");
  let largest = 0;
  for (const [context, row] of table.rows) {
    for (let w = 0; w < table.width; w++) {
      const moved = async (d: number): Promise<number> => {
        logits[row * table.width + w]! += d;
        student.weights.changed();
        const at = await expected();
        logits[row * table.width + w]! -= d;
        student.weights.changed();
        return at;
      };
      const slope = ((await moved(0.01)) - (await moved(-0.01))) / 0.02;
      const got = gradient.get(context)?.[w] ?? 0;
      largest = Math.max(largest, Math.abs(slope));
      assert.ok(Math.abs(got - slope) < 2e-4, `${context}, ${w}: ${got}, expected ${slope}`);
    }
  }
  assert.ok(largest > 0.1, `${largest}`);
});
