import { z } from "zod";
import type { Ctx } from "../../../core/context.ts";
import { type Able, type Evaluator, evaluatorIn } from "../../../core/evaluator.ts";
import type { Signal } from "../../../core/signal.ts";
import type { Feedback } from "../../../core/slots.ts";
import { succeeded, type Trajectory } from "../../../core/types.ts";
import { type Aspect, inducedMetrics, meanRating, traitsOf } from "./induction.ts";

/** Settings of {@link commentMetrics}. */
export interface CommentMetricsOptions {
  /** Who comments. Default: the environment. */
  readonly commenter?: Able<"critique">;
  /** Attempts that are commented on in an iteration. */
  readonly comments: number;
  /** N, metrics. */
  readonly metrics: number;
  /** Least cosine of two behaviours that are the same. */
  readonly least: number;
  /** Comments that are kept, the newest. Default 400. */
  readonly keep?: number;
}

/** A comment on a behaviour, as the run's memory keeps it. */
const kept = z.array(
  z.object({ behaviour: z.string(), said: z.string(), sign: z.union([z.literal(1), z.literal(-1)]) }),
);
const memoryKey = "commentMetrics";

/** The behaviours of an attempt: what it saw last and did, turn by turn. */
export const behavioursOf = ({ turns }: Trajectory): readonly string[] =>
  turns.map(({ prompt, action }) => `${prompt.at(-1)?.content ?? ""} ${action.content}`.trim());

/**
 * Rates attempts by metrics that are induced from comments in words. In every iteration some attempts are commented on. A comment is an aspect:
 * the turn that it is about (the last one where it names none), what was said, and whether it is praise. All comments so far are clustered into
 * N metrics, each with good and bad examples, and every attempt is rated by those that apply to it:
 *
 *     r = mean over applicable metrics of ±1          no metric applies: no signal
 *
 * One signal for each attempt, on channel "outcome"; failed episodes get none. The run's memory keeps the comments.
 * Paper: "AutoLibra: Agent Metric Induction from Open-Ended Feedback".
 */
export function commentMetrics(options: CommentMetricsOptions): Feedback {
  const { metrics: count, least, keep = 400 } = options;
  return async (ctx, { trajectories }) => {
    const played = trajectories.filter((t) => t.end.kind !== "failed" && t.turns.length > 0);
    const before = kept.parse(ctx.memory.get(memoryKey) ?? []);
    const now = [...before, ...(await commentsOn(ctx, played, options))].slice(-keep);
    ctx.memory.set(memoryKey, now);
    const aspects = await aspectsOf(ctx, now);
    const metrics = inducedMetrics(aspects, count, ctx.random.split("metrics"));
    const signals = played.map(async (t): Promise<readonly Signal[]> => {
      const value = meanRating(traitsOf(await ctx.embed(behavioursOf(t)), metrics, least));
      if (value === undefined) return [];
      return [
        {
          kind: "score",
          channel: "outcome",
          about: [{ trajectory: t.id }],
          value,
          source: "induced metrics",
        },
      ];
    });
    return (await Promise.all(signals)).flat();
  };
}

async function commentsOn(
  ctx: Ctx,
  played: readonly Trajectory[],
  { commenter, comments }: CommentMetricsOptions,
): Promise<z.infer<typeof kept>> {
  const by: Evaluator = commenter ?? ctx.environment;
  if (!by.critique) return [];
  const { critique } = evaluatorIn(ctx, by);
  const said = await Promise.all(
    played.slice(0, comments).map(async (t) => {
      const comment = await critique(t, ctx.random.split("comment", t.id));
      if (!comment) return [];
      const good = comment.outcome === undefined ? succeeded(t) : comment.outcome === "success";
      const turn = Math.min(comment.turn ?? t.turns.length - 1, t.turns.length - 1);
      const behaviour = behavioursOf(t)[turn]!;
      return [{ behaviour, said: comment.text, sign: good ? (1 as const) : (-1 as const) }];
    }),
  );
  return said.flat();
}

/** With embeddings of behaviours, and of behaviours with what was said. */
export async function aspectsOf(
  { embed }: Pick<Ctx, "embed">,
  comments: readonly { readonly behaviour: string; readonly said: string; readonly sign: 1 | -1 }[],
): Promise<readonly Aspect[]> {
  const behaviours = await embed(comments.map(({ behaviour }) => behaviour));
  const both = await embed(comments.map(({ behaviour, said }) => `${behaviour} ${said}`));
  return comments.map(({ sign }, i) => ({ at: both[i]!, behaviour: behaviours[i]!, sign }));
}
