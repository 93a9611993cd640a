/**
 * A teacher's log-probabilities at the student's own tokens. An annotation computes them (notes), an estimator turns them
 * into columns, and an objective reads those. Each token has k ids with the log-probabilities of teacher and student.
 */
import type { Batch } from "../../core/batch.ts";
import type { Advantages, Notes } from "../../core/slots.ts";
import { actionTokens, type Id, type Trajectory } from "../../core/types.ts";

/** The notes of one trajectory with A action tokens. */
export interface Hindsight {
  /** Ids per token. */
  readonly k: number;
  /** The teacher's ln q of the written token, [A]. */
  readonly written_A: Float32Array;
  /** Compared ids, [A, k] row-major. */
  readonly ids_AK: Float32Array;
  /** ln q of the teacher at the ids, [A, k]. */
  readonly teacher_AK: Float32Array;
  /** ln p of the student at the ids, computed together with the teacher's, [A, k]. */
  readonly student_AK: Float32Array;
}

const parts = ["written_A", "ids_AK", "teacher_AK", "student_AK"] as const;

/** As notes, named `<teacher>.written_A` and so on. */
export function hindsightNotes(teacher: string, said: ReadonlyMap<Id, Hindsight>): Notes {
  return Object.fromEntries(
    parts.map((part) => [`${teacher}.${part}`, new Map([...said].map(([id, of]) => [id, of[part]]))]),
  );
}

/** Reads the notes of a trajectory; undefined where the teacher has none. */
export function hindsightOf(notes: Notes, teacher: string, t: Trajectory): Hindsight | undefined {
  const [written_A, ids_AK, teacher_AK, student_AK] = parts.map((part) =>
    notes[`${teacher}.${part}`]?.get(t.id),
  );
  if (!written_A || !ids_AK || !teacher_AK || !student_AK) return undefined;
  return { k: ids_AK.length / actionTokens(t), written_A, ids_AK, teacher_AK, student_AK };
}

const idColumn = (teacher: string, j: number): string => `${teacher}.id.${j}`;
const logpColumn = (teacher: string, j: number): string => `${teacher}.logp.${j}`;

/** The columns from which an objective distils a teacher: ids and the teacher's log-probabilities. */
export function hindsightColumns(
  teacher: string,
  said: ReadonlyMap<Id, Hindsight>,
): Readonly<Record<string, Advantages>> {
  const columns: Record<string, Map<Id, Float32Array>> = {};
  for (const [id, { k, ids_AK, teacher_AK, written_A }] of said) {
    for (let j = 0; j < k; j++) {
      const nth = (xs: Float32Array): Float32Array => written_A.map((_, a) => xs[a * k + j]!);
      (columns[idColumn(teacher, j)] ??= new Map()).set(id, nth(ids_AK));
      (columns[logpColumn(teacher, j)] ??= new Map()).set(id, nth(teacher_AK));
    }
  }
  return columns;
}

/**
 * The same columns for targets that are already packed.
 * @param ids [A, k] row-major. @param logp ln q at the ids, [A, k].
 */
export function hindsightColumnsOf(
  teacher: string,
  { k, ids, logp }: HindsightRows,
): Readonly<Record<string, Float32Array>> {
  const nth = (xs: ArrayLike<number>, j: number): Float32Array =>
    Float32Array.from({ length: xs.length / k }, (_, a) => xs[a * k + j]!);
  return Object.fromEntries(
    Array.from({ length: k }, (_, j) => [
      [idColumn(teacher, j), nth(ids, j)],
      [logpColumn(teacher, j), nth(logp, j)],
    ]).flat(),
  );
}

/** A teacher's ids and log-probabilities in a batch. */
export interface HindsightRows {
  readonly k: number;
  /** [A, k] row-major; 0 where the teacher has no value. */
  readonly ids: Int32Array;
  /** [A, k]; NaN where the teacher has no value. */
  readonly logp: Float32Array;
}

/** Reads {@link hindsightColumns} back. Without any, k is 0. */
export function hindsightIn(batch: Batch, teacher: string): HindsightRows {
  let k = 0;
  while (batch.columns[idColumn(teacher, k)] && batch.columns[logpColumn(teacher, k)]) k++;
  const ids = new Int32Array(batch.target_A.length * k);
  const logp = new Float32Array(ids.length);
  for (let j = 0; j < k; j++) {
    batch.columns[idColumn(teacher, j)]!.forEach((id, a) => {
      ids[a * k + j] = Number.isNaN(id) ? 0 : id;
    });
    batch.columns[logpColumn(teacher, j)]!.forEach((x, a) => {
      logp[a * k + j] = x;
    });
  }
  return { k, ids, logp };
}
