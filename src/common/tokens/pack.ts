/** Packs trajectories into batches, and selects parts of batches. */
import type { Batch, Row, RowInfo, TokenRows } from "../../core/batch.ts";
import { rowCount } from "../../core/batch.ts";
import { WhetstoneError } from "../../core/errors.ts";
import type { Advantages } from "../../core/slots.ts";
import type { Trajectory, Turn, Unit } from "../../core/types.ts";
import { actionTokens } from "../../core/types.ts";
import { concatIds, continues, wholeSequence } from "./sequence.ts";

/** Rows for scoring: each target sequence after its prompt. */
export function pairRows(
  pairs: readonly { readonly prompt: Int32Array; readonly target: Int32Array }[],
): TokenRows {
  return packTokens(
    pairs.map(({ prompt, target }) => ({
      tokens: concatIds([prompt, target]),
      targets: Int32Array.from(target, (_, i) => prompt.length + i),
    })),
  );
}

function packTokens(
  rows: readonly { readonly tokens: Int32Array; readonly targets: Int32Array }[],
): TokenRows {
  const rowOffset = new Int32Array(rows.length + 1);
  const targetOffset = new Int32Array(rows.length + 1);
  rows.forEach((row, r) => {
    rowOffset[r + 1] = rowOffset[r]! + row.tokens.length;
    targetOffset[r + 1] = targetOffset[r]! + row.targets.length;
  });
  const tokens_N = concatIds(rows.map((r) => r.tokens));
  const target_A = new Int32Array(targetOffset[rows.length]!);
  rows.forEach((row, r) => {
    row.targets.forEach((p, i) => {
      if (p < 1 || p >= row.tokens.length) {
        throw new WhetstoneError("shape.mismatch", {
          where: "pack",
          got: `a target at position ${p} of a row of ${row.tokens.length} tokens`,
          expected: "positions from 1 to the row's last token",
          fix: "Put at least one prompt token before the first action token.",
        });
      }
      target_A[targetOffset[r]! + i] = rowOffset[r]! + p;
    });
  });
  return { tokens_N, rowOffset, target_A, targetOffset };
}

const floats = (n: number, fill: number): Float32Array => new Float32Array(n).fill(fill);

/**
 * The training rows of one trajectory. Turns are merged into one row as long as each prompt extends the previous prompt and
 * action token by token; otherwise a new row begins (a cut). Tokens are the sampled ones, never re-tokenised.
 * @param advantages one number per action token of the trajectory.
 * @returns `cuts`: how often a new row began within the trajectory.
 */
export function trajectoryRows(
  t: Trajectory,
  unit: Unit,
  advantages: Float32Array,
): { readonly rows: readonly Row[]; readonly cuts: number } {
  const rows: Row[] = [];
  let open: { readonly turn: Turn; readonly index: number }[] = [];
  let from = 0;
  let cuts = 0;
  const close = (): void => {
    if (open.length === 0) return;
    const row = rowOf(t, unit, open, from, advantages);
    if (row.targets.length > 0) rows.push(row);
    from += row.targets.length;
    open = [];
  };
  t.turns.forEach((turn, index) => {
    if (!turn.tokens) return;
    const before = open.at(-1)?.turn.tokens;
    if (before && !continues(before, turn.tokens)) {
      close();
      cuts++;
    }
    open.push({ turn, index });
  });
  close();
  if (from !== advantages.length) {
    throw new WhetstoneError("shape.mismatch", {
      where: "trajectoryRows",
      got: `${advantages.length} advantages for trajectory ${t.id}`,
      expected: `${from}, one per action token`,
      fix: "Build the advantages with one entry for every action token of every turn, in order.",
    });
  }
  return { rows, cuts };
}

function rowOf(
  t: Trajectory,
  unit: Unit,
  turns: readonly { readonly turn: Turn; readonly index: number }[],
  from: number,
  advantages: Float32Array,
): Row {
  let n = 0;
  for (const { turn } of turns) n += turn.tokens!.action.length;
  const targets = new Int32Array(n);
  const turn_A = new Int32Array(n);
  const logp = floats(n, Number.NaN);
  const behaviour = floats(n, Number.NaN);
  const weight = floats(n, 1);
  let a = 0;
  for (const { turn, index } of turns) {
    const given = turn.tokens!;
    const at = given.prompt.length;
    for (let i = 0; i < given.action.length; i++, a++) {
      targets[a] = at + i;
      turn_A[a] = index;
      logp[a] = given.logp[i] ?? Number.NaN;
      behaviour[a] = given.behaviour[i] ?? Number.NaN;
      if (given.forced?.[i]) weight[a] = 0;
    }
  }
  const first = turns[0]!.turn;
  const info: RowInfo = {
    trajectory: t.id,
    task: t.task,
    role: t.role,
    model: first.model,
    version: first.version,
    origin: t.origin,
    context: t.lineage?.why === "rewrite" ? "rewritten" : "sampled",
    unit: unit.id,
    group: unit.group,
    from,
  };
  return {
    info,
    tokens: wholeSequence(turns.at(-1)!.turn.tokens!),
    targets,
    turn: turn_A,
    logp,
    behaviour,
    advantage: advantages.slice(from, from + n),
    weight,
  };
}

/** Packs rows. `units` are those that the rows belong to. */
export function pack(rows: readonly Row[], units: readonly Unit[]): Batch {
  const packed = packTokens(rows);
  const A = packed.target_A.length;
  const join = (pick: (row: Row) => Float32Array): Float32Array => {
    const out = new Float32Array(A);
    rows.forEach((row, r) => {
      out.set(pick(row), packed.targetOffset[r]!);
    });
    return out;
  };
  const turn_A = new Int32Array(A);
  rows.forEach((row, r) => {
    turn_A.set(row.turn, packed.targetOffset[r]!);
  });
  const index_A = new Int32Array(A);
  for (let a = 0; a < A; a++) index_A[a] = a;
  const names = new Set(rows.flatMap((row) => Object.keys(row.columns ?? {})));
  const columns: Record<string, Float32Array> = {};
  for (const name of names) {
    // a row without the column has no value there: NaN, not 0
    columns[name] = join((row) => row.columns?.[name] ?? floats(row.targets.length, Number.NaN));
  }
  return {
    ...packed,
    rows: rows.map((row) => row.info),
    units,
    turn_A,
    logp_A: join((row) => row.logp),
    behaviour_A: join((row) => row.behaviour),
    advantage_A: join((row) => row.advantage),
    weight_A: join((row) => row.weight),
    columns,
    index_A,
  };
}

/** The batch of an experience: rows of every trajectory that has advantages, then the extra rows. */
export function batchOf(
  trajectories: readonly Trajectory[],
  units: readonly Unit[],
  advantages: Advantages,
  extra: readonly Row[] = [],
  columns: Readonly<Record<string, Advantages>> = {},
): { readonly batch: Batch; readonly cuts: number } {
  const byId = new Map(trajectories.map((t) => [t.id, t]));
  const rows: Row[] = [];
  let cuts = 0;
  for (const unit of units) {
    for (const member of unit.members) {
      const t = byId.get(member);
      const a = advantages.get(member);
      if (!t || !a) continue;
      const made = trajectoryRows(t, unit, a);
      rows.push(...made.rows.map((row) => withOwnColumns(row, columns)));
      cuts += made.cuts;
    }
  }
  return { batch: pack([...rows, ...extra], units), cuts };
}

/** The part of each column that belongs to a row's tokens; a trajectory without one has no value there. */
function withOwnColumns(row: Row, columns: Readonly<Record<string, Advantages>>): Row {
  const { trajectory, from } = row.info;
  const own = Object.entries(columns).flatMap(([name, of]) => {
    const whole = of.get(trajectory);
    return whole ? [[name, whole.slice(from, from + row.targets.length)] as const] : [];
  });
  return own.length === 0 ? row : { ...row, columns: { ...row.columns, ...Object.fromEntries(own) } };
}

/** The action tokens of one trajectory as targets, in order, so that outputs align with its advantages. */
export function actionRows(t: Trajectory): TokenRows {
  const unit: Unit = { id: t.id, group: t.task, members: [t.id] };
  return packTokens(trajectoryRows(t, unit, new Float32Array(actionTokens(t))).rows);
}

/** Adds tokens in front of each row; the targets stay the same. */
export function prefixed(rows: TokenRows, prefix: (row: number) => Int32Array): TokenRows {
  return packTokens(
    Array.from({ length: rowCount(rows) }, (_, r) => {
      const start = rows.rowOffset[r]!;
      const before = prefix(r);
      return {
        tokens: concatIds([before, rows.tokens_N.subarray(start, rows.rowOffset[r + 1]!)]),
        targets: rows.target_A
          .subarray(rows.targetOffset[r]!, rows.targetOffset[r + 1]!)
          .map((p) => p - start + before.length),
      };
    }),
  );
}

/** The same rows with `index_A` counted from 0, for a `prepare` that gets only this part. */
export function rebased(batch: Batch): Batch {
  return { ...batch, index_A: Int32Array.from(batch.index_A, (_, a) => a) };
}

/** Adds columns to a batch. */
export function withColumns(batch: Batch, columns: Readonly<Record<string, Float32Array>>): Batch {
  return { ...batch, columns: { ...batch.columns, ...columns } };
}

/** xs[index[a]] for every a, `width` numbers each: maps values from `prepare`'s batch to the given part. */
export function gather(xs: Float32Array, index_A: Int32Array, width = 1): Float32Array {
  const out = new Float32Array(index_A.length * width);
  index_A.forEach((from, a) => {
    out.set(xs.subarray(from * width, (from + 1) * width), a * width);
  });
  return out;
}

/** {@link gather} for ids. */
export function gatherIds(xs: Int32Array, index_A: Int32Array, width = 1): Int32Array {
  const out = new Int32Array(index_A.length * width);
  index_A.forEach((from, a) => {
    out.set(xs.subarray(from * width, (from + 1) * width), a * width);
  });
  return out;
}

/** Some rows of a packed set, in the order given. */
export function selectTokens(from: TokenRows, rows: readonly number[]): TokenRows {
  return packTokens(
    rows.map((r) => {
      const start = from.rowOffset[r]!;
      return {
        tokens: from.tokens_N.subarray(start, from.rowOffset[r + 1]!),
        targets: from.target_A
          .subarray(from.targetOffset[r]!, from.targetOffset[r + 1]!)
          .map((p) => p - start),
      };
    }),
  );
}

/** Some rows of a batch, in the order given. `index_A` still refers to the whole batch. */
export function selectRows(batch: Batch, rows: readonly number[]): Batch {
  const picked = selectTokens(batch, rows);
  const targets = rows.map((r) => [batch.targetOffset[r]!, batch.targetOffset[r + 1]!] as const);
  const join = (xs: Float32Array): Float32Array => {
    const out = new Float32Array(picked.target_A.length);
    targets.forEach(([a, b], i) => {
      out.set(xs.subarray(a, b), picked.targetOffset[i]!);
    });
    return out;
  };
  const joinInts = (xs: Int32Array): Int32Array => concatIds(targets.map(([a, b]) => xs.subarray(a, b)));
  const kept = new Set(rows.map((r) => batch.rows[r]!.unit));
  return {
    ...picked,
    rows: rows.map((r) => batch.rows[r]!),
    units: batch.units.filter((u) => kept.has(u.id)),
    turn_A: joinInts(batch.turn_A),
    logp_A: join(batch.logp_A),
    behaviour_A: join(batch.behaviour_A),
    advantage_A: join(batch.advantage_A),
    weight_A: join(batch.weight_A),
    columns: Object.fromEntries(Object.entries(batch.columns).map(([name, xs]) => [name, join(xs)])),
    index_A: joinInts(batch.index_A),
  };
}

/** Rows that must stay together, as lists of row indices, in the batch's order. */
export function togetherGroups(batch: Batch, together: "row" | "group" | "batch"): number[][] {
  const all = Array.from({ length: rowCount(batch) }, (_, r) => r);
  switch (together) {
    case "row":
      return all.map((r) => [r]);
    case "batch":
      return all.length > 0 ? [all] : [];
    case "group":
      return [...Map.groupBy(all, (r) => batch.rows[r]!.group).values()];
  }
}
