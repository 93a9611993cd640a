import type { Ctx } from "../../../core/context.ts";
import { type Able, evaluatorIn, totalScore } from "../../../core/evaluator.ts";
import type { Sample, SampleRequest } from "../../../core/model.ts";
import type { Signal } from "../../../core/signal.ts";
import type { Feedback } from "../../../core/slots.ts";
import type { Trajectory } from "../../../core/types.ts";

/** Asks for a score of a reply. */
const instruction =
  "think about the reply to the request , then score it from 0 to 100 ; 0 where it is off the topic , in the wrong language or several replies in one ; end with the score";

/** What the judge reads. */
export const question = (request: string, reply: string): string =>
  `request : ${request} ; reply : ${reply} ; ${instruction}`;

/** Most tokens of a judgement. */
const longest = 64;

/** Settings of {@link selfJudged}. */
export interface SelfJudgedOptions {
  /** Whose weights judge: those of the policy as it is now, or as it was at first (the frozen model "reference"). Default "policy". */
  readonly judge?: "policy" | "reference";
  /** Judgements of each reply, whose scores are averaged. Default 1. */
  readonly samples?: number;
  /** Sampling temperature of the judge. Default 1. */
  readonly temperature?: number;
  /** Whether a reply keeps to the format. Default: it says something beside its thoughts. */
  readonly wellFormed?: (t: Trajectory) => boolean;
  /** A learned metric in [0, 1] beside the judge, whose mean with it is paid. Default: the judge alone. */
  readonly metric?: Able<"score">;
}

/** What an attempt replies, without its thoughts. */
export const replyOf = ({ turns }: Trajectory): string =>
  (turns.at(-1)?.action.content ?? "").replace(/<think>[\s\S]*?(<\/think>|$)/g, "").trim();

/** The score that a judgement ends with, cut to 0…100; undefined where it has no number. */
export function scoreIn(judgement: string): number | undefined {
  const last = judgement.match(/-?\d+(\.\d+)?/g)?.at(-1);
  return last === undefined ? undefined : Math.min(100, Math.max(0, Number(last)));
}

/**
 * The policy judges its own replies, under another prompt and without a reference, and the score is the reward:
 *
 *     r = f · mean s / 100,     with a metric m:  r = f · (mean s / 100 + m) / 2          f: 1 for a reply in the format, else 0
 *
 * A judgement without a number is drawn once more; without one again it counts as 0. Judgements are sampled without gradient and never
 * trained on. A reply out of format is not judged. An attempt whose judge's prompt is too long for the model, or whose metric fails,
 * gets no signal. Judgements count as "judge.calls", and what they say among the tokens that are sampled.
 * Paper: "SSR-Zero: Simple Self-Rewarding Reinforcement Learning for Machine Translation".
 */
export function selfJudged(options: SelfJudgedOptions = {}): Feedback {
  const { samples = 1, wellFormed = (t) => replyOf(t) !== "", metric } = options;
  return async (ctx, { trajectories }) => {
    const ended = trajectories.filter((t) => t.end.kind !== "failed" && t.turns.length > 0);
    const judged = ended.filter(wellFormed);
    const scores = await judgements(ctx, judged, samples, options);
    const signals = ended.map(async (t): Promise<Signal[]> => {
      const own = scores.get(t);
      if (wellFormed(t) && !own) return [];
      const score = (own ?? [0]).reduce((a, b) => a + b, 0) / (own ?? [0]).length / 100;
      const measured = metric && own ? await measuredBy(ctx, metric, t) : undefined;
      if (metric && own && measured === undefined) return [];
      const value = measured === undefined ? score : (score + measured) / 2;
      return [{ kind: "reward", channel: "outcome", about: [{ trajectory: t.id }], value, source: "self" }];
    });
    return (await Promise.all(signals)).flat();
  };
}

async function measuredBy(
  ctx: Ctx,
  metric: Able<"score">,
  trajectory: Trajectory,
): Promise<number | undefined> {
  const { score } = evaluatorIn(ctx, metric);
  const scores = await score(trajectory, ctx.random.split("metric", trajectory.id));
  return scores && totalScore(scores);
}

/** The scores of each reply; a reply whose prompt does not fit is absent. */
async function judgements(
  ctx: Ctx,
  replies: readonly Trajectory[],
  samples: number,
  { judge = "policy", temperature = 1 }: SelfJudgedOptions,
): Promise<ReadonlyMap<Trajectory, readonly number[]>> {
  const { codec, contextTokens } = ctx.model();
  const asked = replies.flatMap((t) => {
    const request = t.turns[0]!.prompt.map(({ content }) => content).join(" ");
    const prompt = codec.open([{ role: "user", content: question(request, replyOf(t)) }]);
    const maxTokens = Math.min(longest, contextTokens - prompt.length);
    const random = ctx.random.split("selfJudged", t.id);
    return maxTokens < 1
      ? []
      : Array.from({ length: samples }, (_, i) => ({ t, prompt, maxTokens, random: random.split(i) }));
  });
  const draw = async (of: readonly (typeof asked)[number][], again: number): Promise<Sample[]> => {
    const requests = of.map(
      ({ prompt, maxTokens, random }): SampleRequest => ({
        ...{ prompt, maxTokens, temperature },
        seed: random.split("judgement", again).seed,
      }),
    );
    const by = judge === "policy" ? ctx.model() : ctx.frozen("reference");
    const drawn = requests.length === 0 ? [] : await by.sample(requests);
    ctx.count("judge.calls", drawn.length);
    ctx.count("generations", drawn.length);
    for (const { action } of drawn) ctx.count("tokens.sampled", action.length);
    return drawn;
  };
  const first = (await draw(asked, 0)).map(({ action }) => scoreIn(codec.decode(action)));
  const unclear = [...asked.keys()].filter((i) => first[i] === undefined);
  const second = await draw(
    unclear.map((i) => asked[i]!),
    1,
  );
  unclear.forEach((i, j) => {
    first[i] = scoreIn(codec.decode(second[j]!.action));
  });
  const out = new Map<Trajectory, number[]>();
  asked.forEach(({ t }, i) => {
    out.set(t, [...(out.get(t) ?? []), first[i] ?? 0]);
  });
  return out;
}
