import { type Hindsight, hindsightNotes } from "../common/tokens/hindsight.ts";
import { batchOf } from "../common/tokens/pack.ts";
import { type Telling, toldAfterTask } from "../common/tokens/privilegedContext.ts";
import { rewritten } from "../common/tokens/rewrite.ts";
import type { Batch, TokenRows } from "../core/batch.ts";
import { present } from "../core/errors.ts";
import type { Frozen, Model } from "../core/model.ts";
import type { Annotate } from "../core/slots.ts";
import { actionTokens, type Id, type Message, type Task, type Trajectory } from "../core/types.ts";

/** Settings of {@link teacher}. */
export interface TeacherOptions {
  /** What the teacher is told of an attempt that the student did not know. */
  readonly tell: Telling;
  /** A turn's whole prompt with that said. Default: a user message after the task's own prompt. */
  readonly place?: (messages: readonly Message[], text: string, task: Task) => readonly Message[];
  /** The frozen model that reads. Default: the policy as it is. */
  readonly by?: string;
  /** Whose most probable ids are compared. Default "student". */
  readonly ids?: "student" | "teacher";
  /** How many ids. Default 20. */
  readonly topk?: number;
  /** What its notes begin with. Default "teacher". */
  readonly note?: string;
}

/**
 * The policy, or a frozen copy, as a teacher that reads what was written with hindsight: each attempt's own tokens once
 * more, in a prompt that also tells what came of them, an answer, or how a sibling succeeded.
 *
 *     p[a] = π(· | x, y[<a])        q[a] = π_teacher(· | x, told, y[<a])        both at the k likeliest ids of one of them
 *
 * Nothing is generated. Prompts are rendered anew, so that what is told may be of any length; the action tokens are the
 * same ones, and each is scored after the same actions. Log-probabilities are over the whole vocabulary: what the k ids
 * leave is the bucket of `core/divergence.ts`. Two calls of models.
 *
 * Notes: those of `core/hindsight.ts`. An attempt of which there is nothing to tell, or whose prompt is too long with it,
 * or that failed, has no teacher. Paper: "Reinforcement Learning via Self-Distillation".
 */
export function teacher(options: TeacherOptions): Annotate {
  const { tell, place = toldAfterTask, by, ids = "student", topk = 20, note = "teacher" } = options;
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
    const taught = new Map(heard.filter((t) => longest(t) <= student.contextTokens).map((t) => [t.id, t]));
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

/** Both sides at the likeliest ids of one of them. Arrays over [A, k] and, of the tokens written, [A]. */
async function compare(views: Views, leader: Side, topk: number) {
  const follower = leader === "student" ? "teacher" : "student";
  const led = await views[leader].model.score(views[leader].rows, { topk });
  const { ids, k, logp } = present(led.topk, "teacher", "most probable ids");
  const followed = await views[follower].model.score(views[follower].rows, { at: { ids, width: k } });
  const at = present(followed.at, "teacher", "log-probabilities at ids");
  const [student, taught] = leader === "student" ? [logp, at] : [at, logp];
  return { k, ids, student, teacher: taught, written: leader === "teacher" ? led.logp : followed.logp };
}

/** The part of each trajectory. */
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
