import { withoutAdvice } from "../../../common/tokens/rewrite.ts";
import { WhetstoneError } from "../../../core/errors.ts";
import type { Rollout } from "../../../core/slots.ts";
import { type Id, paid, type Role, type Task, type Trajectory, type Unit } from "../../../core/types.ts";

/** Settings of {@link scopedFeedback}. */
export interface ScopedFeedbackOptions {
  /** Frozen model that everything is sampled from: the policy before the feedback. Default "reference". */
  readonly base?: string;
  /** Whether a task is in scope, near it, or unrelated. Default: its metadata's `scope`. */
  readonly scope?: (task: Task) => "in" | "near" | "out";
  /** The feedback for a task in scope. Default: its metadata's `wish`. */
  readonly feedback?: (task: Task) => string;
  /** Answers sampled per task out of scope, and pairs per task in scope. Default 1. */
  readonly perTask?: number;
  /** Default "agent". */
  readonly role?: Role;
}

/**
 * One sentence of feedback as a small training set of three parts, all of it sampled from the base:
 *
 *     in:          y_l = base(x), y_w = base(x, feedback), feedback then removed        group "in/<task>/<n>"
 *     near, out:   y_0 = base(x)                                                        group "near/<task>", "out/<task>"
 *
 * A pair whose revision does not get a higher reward is dropped: it did not follow the feedback better. Trajectories name
 * the policy as the acting model, since it is trained on them; their log-probabilities are the base's, and unknown for
 * revisions. Failed episodes are left out. @throws WhetstoneError `capability.missing` if a task has neither feedback nor
 * scope.
 *
 * Stats: pairs kept, per pair sampled.
 * Paper: "RLVF: Learning from Verbal Feedback without Overgeneralization".
 */
export function scopedFeedback(options: ScopedFeedbackOptions = {}): Rollout {
  const { base = "reference", perTask = 1, role = "agent" } = options;
  const { scope = scopeIn, feedback = wishIn } = options;
  return async (ctx) => {
    const { codec } = ctx.model();
    const sampled = async (task: Task, attempt: number, advice?: string): Promise<Trajectory | undefined> => {
      const played = await ctx.play({
        task: task.id,
        attempt,
        models: { [role]: base },
        ...(advice !== undefined && { advice }),
      });
      const t = played.find((own) => own.role === role && own.end.kind !== "failed" && own.turns.length > 0);
      return t && { ...t, turns: t.turns.map((turn) => ({ ...turn, model: ctx.model().id })) };
    };
    const pair = async (task: Task, n: number): Promise<readonly Trajectory[]> => {
      const [first, advised] = await Promise.all([
        sampled(task, 2 * n),
        sampled(task, 2 * n + 1, feedback(task)),
      ]);
      if (!first || !advised || paid(advised) <= paid(first)) return [];
      const advice = { turn: 0, messages: 1 };
      return [first, withoutAdvice(advised, `${advised.id}/plain`, codec, advice)];
    };
    const numbers = Array.from({ length: perTask }, (_, n) => n);
    const [inside, outside] = [true, false].map((applies) =>
      ctx.tasks.filter((task) => (scope(task) === "in") === applies),
    );
    const [pairs, anchors] = await Promise.all([
      Promise.all(
        inside!.flatMap((task) =>
          numbers.map(async (n) => ({ group: `in/${task.id}/${n}`, of: await pair(task, n) })),
        ),
      ),
      Promise.all(
        outside!.flatMap((task) =>
          numbers.map(async (n) => ({
            group: `${scope(task)}/${task.id}`,
            of: [await sampled(task, n)].filter((t) => t !== undefined),
          })),
        ),
      ),
    ]);
    const all = [...pairs, ...anchors];
    const kept = pairs.filter(({ of }) => of.length > 0).length;
    return {
      trajectories: all.flatMap(({ of }) => of),
      units: all.flatMap(({ group, of }) => of.map((t) => unitOf(t.id, group))),
      ...(pairs.length > 0 && { stats: { kept: kept / pairs.length } }),
    };
  };
}

const unitOf = (id: Id, group: Id): Unit => ({ id, group, members: [id] });

const scopeIn = ({ id, metadata: { scope } }: Task): "in" | "near" | "out" => {
  if (scope === "in" || scope === "near" || scope === "out") return scope;
  throw withoutFeedback(id, "whether feedback applies to it: scope, one of in, near and out");
};

const wishIn = ({ id, metadata: { wish } }: Task): string => {
  if (typeof wish === "string") return wish;
  throw withoutFeedback(id, "what was said: wish, a text");
};

const withoutFeedback = (task: Id, expected: string): WhetstoneError =>
  new WhetstoneError("capability.missing", {
    where: `task ${task}`,
    got: "metadata without feedback and its scope",
    expected,
    fix: "Choose an environment whose tasks have them, such as wishes, or tell the rollout where to find them.",
  });
