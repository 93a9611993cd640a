import { mapById } from "../common/mapById.ts";
import { type Hindsight, hindsightNotes } from "../common/tokens/hindsight.ts";
import { batchOf } from "../common/tokens/pack.ts";
import { insertedAfterTask, type PrivilegedContext } from "../common/tokens/privilegedContext.ts";
import { rewritten } from "../common/tokens/rewrite.ts";
import type { Batch, TokenRows } from "../core/batch.ts";
import { present } from "../core/errors.ts";
import type { Frozen, Model } from "../core/model.ts";
import type { Annotate } from "../core/slots.ts";
import { actionTokens, type Id, type Message, type Task, type Trajectory } from "../core/types.ts";

/** Settings of {@link teacher}. */
export interface TeacherOptions {
  /** The privileged context of an attempt, which only the teacher gets. */
  readonly tell: PrivilegedContext;
  /** Inserts the privileged context into a turn's whole prompt. Default: a user message after the task's own prompt. */
  readonly place?: (messages: readonly Message[], text: string, task: Task) => readonly Message[];
  /** The frozen model that acts as teacher. Default: the current policy. */
  readonly by?: string;
  /** The side whose most probable ids are compared. Default "student". */
  readonly ids?: "student" | "teacher";
  /** How many ids. Default 20. */
  readonly topk?: number;
  /** Prefix of its notes. Default "teacher". */
  readonly note?: string;
}

/**
 * Self-distillation: the policy, or a frozen copy, as a teacher with hindsight. It scores each attempt's own tokens after a
 * prompt with privileged context, such as the outcome, an answer, or a sibling's success.
 *
 *     p[a] = π(· | x, y[<a])        q[a] = π_teacher(· | x, c, y[<a])        c: privileged context; both at the k most probable ids of one side
 *
 * Nothing is generated. Prompts are re-rendered, so the privileged context may have any length; the action tokens are the
 * same, and each is scored after the same actions. Log-probabilities are over the whole vocabulary: the mass outside the k
 * ids goes to the bucket of `common/statistics/divergence.ts`. Two model calls.
 *
 * Notes: those of `common/tokens/hindsight.ts`. An attempt without privileged context, with too long a prompt, or that
 * failed gets none. Paper: "Reinforcement Learning via Self-Distillation".
 */
export function teacher(options: TeacherOptions): Annotate {
  const { tell, place = insertedAfterTask, by, ids = "student", topk = 20, note = "teacher" } = options;
  return async (ctx, experience) => {
    const student = ctx.model();
    const told = async (t: Trajectory): Promise<Trajectory | undefined> => {
      if (t.end.kind === "failed" || actionTokens(t) === 0) return undefined;
      const text = await tell(ctx, t, experience);
      if (text === undefined) return undefined;
      const task = ctx.task(t.task);
      return rewritten(t, t.id, student.codec, (messages) => place(messages, text, task));
    };
    const member = new Set(experience.units.flatMap((u) => u.members));
    const asked = experience.trajectories.filter((t) => member.has(t.id));
    const heard = (await Promise.all(asked.map(told))).filter((t) => t !== undefined);
    const taught = mapById(heard.filter((t) => longest(t) <= student.contextTokens));
    const pupils = asked.filter((t) => taught.has(t.id));
    if (pupils.length === 0) return hindsightNotes(note, new Map());
    const views: Views = {
      student: { model: student, rows: rowsOf(pupils) },
      teacher: { model: by === undefined ? student : ctx.frozen(by), rows: rowsOf([...taught.values()]) },
    };
    const k = Math.min(topk, student.codec.vocabulary);
    return hindsightNotes(note, parted(pupils, await compare(views, ids, k)));
  };
}

/** Tokens of a trajectory's longest prompt and action. */
const longest = (t: Trajectory): number =>
  Math.max(...t.turns.map(({ tokens }) => (tokens ? tokens.prompt.length + tokens.action.length : 0)));

/** Every action token of some trajectories as targets, in order. */
function rowsOf(trajectories: readonly Trajectory[]): Batch {
  const units = trajectories.map((t) => ({ id: t.id, group: t.task, members: [t.id] }));
  return batchOf(
    trajectories,
    units,
    new Map(trajectories.map((t) => [t.id, new Float32Array(actionTokens(t))])),
  ).batch;
}

type Side = "student" | "teacher";
type Views = Readonly<
  Record<Side, { readonly model: Pick<Model | Frozen, "score">; readonly rows: TokenRows }>
>;

/** Log-probabilities of both sides at the most probable ids of one side, [A, k], and of the written tokens, [A]. */
async function compare(views: Views, leader: Side, topk: number) {
  const follower = leader === "student" ? "teacher" : "student";
  const led = await views[leader].model.score(views[leader].rows, { topk });
  const { ids, k, logp } = present(led.topk, "teacher", "most probable ids");
  const followed = await views[follower].model.score(views[follower].rows, { at: { ids, width: k } });
  const at = present(followed.at, "teacher", "log-probabilities at ids");
  const [student, taught] = leader === "student" ? [logp, at] : [at, logp];
  return { k, ids, student, teacher: taught, written: leader === "teacher" ? led.logp : followed.logp };
}

/** Splits the arrays by trajectory. */
function parted(
  trajectories: readonly Trajectory[],
  { k, ids, student, teacher: said, written }: Awaited<ReturnType<typeof compare>>,
): Map<Id, Hindsight> {
  const out = new Map<Id, Hindsight>();
  let from = 0;
  for (const t of trajectories) {
    const to = from + actionTokens(t);
    const part = (xs: Float32Array): Float32Array => xs.slice(from * k, to * k);
    out.set(t.id, {
      k,
      written_A: written.slice(from, to),
      ids_AK: Float32Array.from(ids.subarray(from * k, to * k)),
      teacher_AK: part(said),
      student_AK: part(student),
    });
    from = to;
  }
  return out;
}
