import { z } from "zod";
import type { Ctx } from "../../../core/context.ts";
import { comparingScores, evaluatorIn } from "../../../core/evaluator.ts";
import type { Feedback, Rollout } from "../../../core/slots.ts";
import type { Message, Task, Trajectory, Unit } from "../../../core/types.ts";
import type { Gap } from "./gapReward.ts";

/** First word of the message with the answer that is to be improved. */
export const draftWord = "draft";

/** The message that shows an answer to improve on. */
export const draftMessage = (answer: string): Message => ({
  role: "user",
  content: `${draftWord} ${answer.trim()}`,
});

/** Settings of {@link improving}. */
export interface ImprovingOptions {
  readonly groupSize: number;
  readonly temperature?: number;
  /** Whether the policy reads the answer that it has to improve on. Without, it answers the bare question. */
  readonly reads: boolean;
}

const pairsKey = "pit pairs";
const referencesKey = "pit references";
const textOf = ({ turns }: Trajectory): string => turns.at(-1)?.action.content.trim() ?? "";

/**
 * Which answer is improved on, by the progress of training: the worse answer of a pair in the first third, the better one in the
 * second, and in the last the policy's own improvement of the better one. Weak references come first, since strong ones leave gaps
 * near 0 and nothing to learn from.
 */
export const curriculum = (progress: number): "worse" | "better" | "own" =>
  progress < 1 / 3 ? "worse" : progress < 2 / 3 ? "better" : "own";

/**
 * Improves answers: for each task two answers of the first policy are compared, and from one of them, by {@link curriculum}, the policy
 * writes a group of new answers.
 *
 *     y, y′ ~ π_0(· | x),   (y_w, y_l) by the environment's judge, or its scores
 *     ỹ_1 … ỹ_G ~ π(· | x, y_ref),   y_ref = y_l, then y_w, then an answer of π(· | x, y_w)
 *
 * The new answers are the units, grouped by task; pairs and references are kept in the run's memory for `gapSignals`. A tie gives
 * no pair, and the first answer is its reference.
 * Paper: "Enable Language Models to Implicitly Learn Self-Improvement From Data".
 */
export function improving(options: ImprovingOptions): Rollout {
  return async (ctx) => {
    const { iteration, iterations = 1 } = ctx.clock;
    const stage = curriculum(iteration / iterations);
    const made = await Promise.all(ctx.tasks.map((task) => improvedOf(ctx, task, stage, options)));
    const old = z.array(z.unknown()).parse(ctx.memory.get(pairsKey) ?? []);
    const pairs = [...old.map((one) => gap.parse(one)), ...made.flatMap(({ pair }) => pair ?? [])];
    ctx.memory.set(
      pairsKey,
      pairs.map((pair) => ({ ...pair })),
    );
    ctx.memory.set(
      referencesKey,
      Object.fromEntries(made.map(({ task, reference }) => [task.id, reference])),
    );
    const units = made.flatMap(({ task, improved }) =>
      improved.map(({ id }): Unit => ({ id, group: task.id, members: [id] })),
    );
    return {
      trajectories: made.flatMap(({ drafts, improved }) => [...drafts, ...improved]),
      units,
    };
  };
}

async function improvedOf(
  ctx: Ctx,
  task: Task,
  stage: ReturnType<typeof curriculum>,
  { groupSize, temperature, reads }: ImprovingOptions,
) {
  const warmth = temperature === undefined ? {} : { temperature };
  const role = ctx.roles[0] ?? "agent";
  const plays = [0, 1].map((attempt) =>
    ctx.play({ task: task.id, attempt, models: { [role]: "reference" }, ...warmth }),
  );
  const drafts = (await Promise.all(plays)).flat();
  const [first, second] = drafts;
  const judge = ctx.environment.compare ? ctx.environment : comparingScores(ctx.environment);
  const p =
    first && second
      ? await evaluatorIn(ctx, judge).compare(first, second, ctx.random.split("compare", task.id))
      : undefined;
  const [better, worse] = p !== undefined && p < 0.5 ? [second, first] : [first, second];
  const asked = task.prompt.at(-1)?.content ?? "";
  const pair: Gap | undefined =
    better && worse && p !== undefined && p !== 0.5
      ? { asked, first: textOf(better), second: textOf(worse) }
      : undefined;
  let reference = textOf((stage === "worse" ? worse : better) ?? first!);
  const own =
    stage === "own"
      ? await ctx.play({
          task: task.id,
          attempt: 2,
          ...(reads && { advice: [draftMessage(reference)] }),
          ...warmth,
        })
      : [];
  if (own[0]) reference = textOf(own[0]);
  const improved = await Promise.all(
    Array.from({ length: groupSize }, (_, i) =>
      ctx.play({
        task: task.id,
        attempt: 3 + i,
        ...(reads && { advice: [draftMessage(reference)] }),
        ...warmth,
      }),
    ),
  );
  return {
    ...{ task, pair, reference },
    drafts: [...drafts, ...own],
    improved: improved.flat().filter(({ end }) => end.kind !== "failed"),
  };
}

const gap = z.object({ asked: z.string(), first: z.string(), second: z.string() });

/**
 * Rewards of new answers: the gap r(ỹ, y_ref) that the helper `gap` predicts, after it was fitted to all pairs so far. The new answer
 * is the first argument. Only units get a reward, on channel "outcome".
 * Paper: "Enable Language Models to Implicitly Learn Self-Improvement From Data".
 */
export function gapSignals(): Feedback {
  return async (ctx, { trajectories, units }) => {
    const model = ctx.helper<Gap, number, number>("gap");
    const pairs = z.array(gap).parse(ctx.memory.get(pairsKey) ?? []);
    await model.fit(pairs.map((x) => ({ x, y: 1, weight: 1 })));
    const references = z.record(z.string(), z.string()).parse(ctx.memory.get(referencesKey) ?? {});
    const member = new Set(units.flatMap(({ members }) => members));
    const scored = trajectories.filter(({ id }) => member.has(id));
    const gaps = await model.predict(
      scored.map((t) => ({
        asked: ctx.task(t.task).prompt.at(-1)?.content ?? "",
        first: textOf(t),
        second: references[t.task] ?? "",
      })),
    );
    return scored.map(({ id }, i) => ({
      ...{ kind: "score", channel: "outcome", about: [{ trajectory: id }] },
      value: gaps[i]!,
      source: "helper:gap",
    }));
  };
}
