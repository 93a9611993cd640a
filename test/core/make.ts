/** Small trajectories and batches for tests. */

import { pack } from "../../src/common/tokens/pack.ts";
import type { Batch, Row } from "../../src/core/batch.ts";
import type { Ctx } from "../../src/core/context.ts";
import type { Critique } from "../../src/core/critique.ts";
import type { Able, EnvironmentEvaluator, EvaluatorCall } from "../../src/core/evaluator.ts";
import { randomStream } from "../../src/core/random.ts";
import type { AnnotatedExperience } from "../../src/core/slots.ts";
import type { Trajectory, Turn } from "../../src/core/types.ts";

/** A turn with this prompt and action; log-probabilities −0.1, −0.2, … */
export function turnOf(prompt: readonly number[], action: readonly number[], more: Partial<Turn> = {}): Turn {
  const logp = Float32Array.from(action, (_, i) => -(i + 1) / 10);
  return {
    role: "agent",
    model: "policy",
    version: "0",
    prompt: [{ role: "user", content: prompt.join(" ") }],
    action: { role: "assistant", content: action.join(" ") },
    tokens: { prompt: Int32Array.from(prompt), action: Int32Array.from(action), logp, behaviour: logp },
    spans: {},
    stop: "eos",
    rewards: {},
    ms: 0,
    ...more,
  };
}

export function trajectoryOf(id: string, turns: readonly Turn[], more: Partial<Trajectory> = {}): Trajectory {
  return {
    id,
    task: "task",
    episode: id,
    role: "agent",
    turns,
    end: { kind: "done", reason: "over" },
    origin: "sampled",
    ...more,
  };
}

/** Evidence in which trajectory i of group g got rewards[g][i] on channel "outcome"; `turns` turns of two tokens each. */
export function evidenceOf(
  rewards: readonly (readonly (number | undefined)[])[],
  turns: (group: number, i: number) => number = () => 1,
): AnnotatedExperience {
  const trajectories = rewards.flatMap((group, g) =>
    group.map((_, i) =>
      trajectoryOf(
        `${g}.${i}`,
        Array.from({ length: turns(g, i) }, (_unused, k) => turnOf([1, k], [2, 3])),
        {
          task: `task${g}`,
        },
      ),
    ),
  );
  return {
    trajectories,
    units: trajectories.map((t) => ({ id: t.id, group: t.task, members: [t.id] })),
    notes: {},
    signals: [],
    channels: {
      outcome: rewards.flatMap((group, g) =>
        group.flatMap((value, i) =>
          value === undefined ? [] : [{ at: { trajectory: `${g}.${i}` }, value }],
        ),
      ),
    },
  };
}

export interface RowSpec {
  readonly behaviour: readonly number[];
  readonly advantage: readonly number[];
  readonly weight?: readonly number[];
  readonly turn?: readonly number[];
  readonly group?: string;
  /** Default: a separate one. */
  readonly trajectory?: string;
}

/** A batch of rows that begin with one prompt token. */
export function batchOfRows(specs: readonly RowSpec[]): Batch {
  const rows = specs.map((spec, r): Row => {
    const n = spec.behaviour.length;
    const group = spec.group ?? "group";
    return {
      info: {
        trajectory: spec.trajectory ?? `t${r}`,
        task: group,
        role: "agent",
        model: "policy",
        version: "0",
        origin: "sampled",
        context: "sampled",
        unit: `t${r}`,
        group,
        from: 0,
      },
      tokens: Int32Array.from({ length: n + 1 }, (_, i) => i),
      targets: Int32Array.from({ length: n }, (_, i) => i + 1),
      turn: Int32Array.from({ length: n }, (_, i) => spec.turn?.[i] ?? 0),
      logp: Float32Array.from(spec.behaviour),
      behaviour: Float32Array.from(spec.behaviour),
      advantage: Float32Array.from(spec.advantage),
      weight: Float32Array.from({ length: n }, (_, i) => spec.weight?.[i] ?? 1),
    };
  });
  return pack(
    rows,
    rows.map((row) => ({ id: row.info.unit, group: row.info.group, members: [row.info.trajectory] })),
  );
}

/** A context whose environment evaluates like this. Its tasks are empty. */
export const ctxWith = (environment: Partial<EnvironmentEvaluator>, parts: Partial<Ctx> = {}): Ctx =>
  ctxOf({
    random: randomStream(1),
    task: (id) => ({ id, prompt: [], metadata: {}, seed: 1 }),
    ...parts,
    environment: { name: "environment", verifies: true, ...environment },
  });

/** A critiquer that answers with the function's result. */
export const critiquing = (
  critique: (trajectory: Trajectory, call: EvaluatorCall) => Critique | undefined,
): Able<"critique"> => ({
  name: "critiquer",
  critique: async ({ trajectory }, call) => critique(trajectory, call),
});

/** A context with the given values; access to anything else throws. */
export function ctxOf(parts: Partial<Ctx>): Ctx {
  const missing = (): never => {
    throw new Error("this test gave its context no such thing");
  };
  return {
    clock: { iteration: 0, phase: "train", step: 0 },
    get random(): never {
      return missing();
    },
    environment: { name: "no environment" },
    roles: ["agent"],
    tasks: [],
    memory: { get: missing, set: missing },
    artefacts: { current: missing, version: missing, propose: missing, adopt: missing },
    task: missing,
    model: missing,
    frozen: missing,
    helper: missing,
    play: missing,
    embed: missing,
    learn: missing,
    stop: new AbortController().signal,
    count: () => {},
    ...parts,
  };
}
