import { readTwoAnswers } from "../../../common/text/twoAnswers.ts";
import type { Ctx } from "../../../core/context.ts";
import { evaluatorIn, totalScore } from "../../../core/evaluator.ts";
import type { Signal } from "../../../core/signal.ts";
import type { Feedback } from "../../../core/slots.ts";
import type { Trajectory, Turn } from "../../../core/types.ts";

/** Settings of {@link reflection}. */
export interface ReflectionOptions {
  /**
   * Location of the two answers: in tags in the last action, each verified by the environment as if it were the whole
   * reply; or in the first and the last turn, with their rewards. Default "tags".
   */
  readonly answers?: "tags" | "turns";
  /** Least reward of a right answer, in the unit of the rewards. Default 1. */
  readonly threshold?: number;
  /** Reward of keeping a right answer; correcting a wrong one gets 1. At 1 a wrong first answer has no benefit. Default 0.75. */
  readonly kept?: number;
  /** Reward of a well-formed reply. Default 0.5. */
  readonly format?: number;
  /** Reward of a reply of the ideal length. Default 0.1. */
  readonly length?: number;
}

/**
 * Rewards for a reply that answers, reflects and answers again:
 *
 *     accuracy   1 wrong then right, `kept` right both times, 0.25 right then wrong, 0 wrong both times;
 *                half its value for a single answer
 *     format     0.5 if the tags are think, answer, reflection, think, answer, and nothing else
 *     length     0.1 · exp(−(|L − 2n| / 0.5n)²)      L: tokens of the action, n: those of the first thought and answer, at least 1
 *
 * Three channels with these names, so that each is logged separately; estimators sum them. Format and length apply to
 * replies in tags; answers in turns have neither. Without the tags there is no length reward. With keep rate κ and repair
 * rate q a right first answer earns 0.25 + (kept − 0.25) κ and a wrong one q: once repair is easy, right first answers no
 * longer earn more, so monitor their share. Failed episodes get no signal; answers that the environment could not verify
 * get no accuracy.
 * Paper: "SRPO: Enhancing Multimodal LLM Reasoning via Reflection-Aware Reinforcement Learning".
 */
export function reflection(options: ReflectionOptions = {}): Feedback {
  const { answers = "tags", threshold = 1, kept = 0.75, format = 0.5, length = 0.1 } = options;
  return async (ctx, { trajectories }) => {
    const alive = trajectories.filter((t) => t.end.kind !== "failed" && t.turns.length > 0);
    const signals = await Promise.all(
      alive.map(async (t): Promise<readonly Signal[]> => {
        const right = answers === "tags" ? await verified(ctx, t, threshold) : asPaid(t, threshold);
        const channels: Record<string, number | undefined> = {
          accuracy: right && accuracy(right, kept),
          ...(answers === "tags" && written(ctx, t.turns.at(-1)!, { format, length })),
        };
        return Object.entries(channels).flatMap(([channel, value]): readonly Signal[] =>
          value === undefined
            ? []
            : [{ kind: "reward", channel, about: [{ trajectory: t.id }], value, source: "environment" }],
        );
      }),
    );
    return signals.flat();
  };
}

/** Which of up to two answers are right. */
type Right = readonly boolean[];

/** @param kept reward of two right answers. */
export function accuracy([first, second]: Right, kept = 0.75): number {
  if (first === undefined) return 0;
  if (second === undefined) return first ? 0.5 : 0;
  if (second) return first ? kept : 1;
  return first ? 0.25 : 0;
}

const asPaid = ({ turns }: Trajectory, threshold: number): Right =>
  [turns[0], ...(turns.length > 1 ? [turns.at(-1)] : [])].map(
    (turn) => Object.values(turn?.rewards ?? {}).reduce((a, b) => a + b, 0) >= threshold,
  );

/** Which answers of the last action are right; undefined where a verifier failed or there is none. */
async function verified(ctx: Ctx, t: Trajectory, threshold: number): Promise<Right | undefined> {
  const last = t.turns.at(-1)!;
  const { score } = evaluatorIn(ctx, ctx.environment);
  const scores = await Promise.all(
    readTwoAnswers(last.action.content)
      .answers.slice(0, 2)
      .map(async (content) => {
        const turn = { ...last, action: { ...last.action, content } };
        const answered = { ...t, turns: [...t.turns.slice(0, -1), turn] };
        const rewards = await score(answered, ctx.random.split("score", t.id, content));
        return rewards && Object.keys(rewards).length > 0 ? totalScore(rewards) : undefined;
      }),
  );
  return scores.some((v) => v === undefined) ? undefined : scores.map((v) => v! >= threshold);
}

/** Format and length rewards of a reply. */
function written(ctx: Ctx, turn: Turn, worth: { readonly format: number; readonly length: number }) {
  const { formed, thought, answers } = readTwoAnswers(turn.action.content);
  if (!formed) return { format: 0, length: 0 };
  const { codec } = ctx.model(turn.model);
  const own = Math.max(1, codec.encode(thought).length + codec.encode(answers[0]!).length);
  const total = turn.tokens?.action.length ?? codec.encode(turn.action.content).length;
  return { format: worth.format, length: worth.length * lengthBell(total, own) };
}

/** exp(−(|L − 2n| / 0.5n)²), in (0, 1]: 1 at twice the first attempt's length, 1/e at 1.5 and 2.5 times. */
export const lengthBell = (total: number, first: number): number =>
  Math.exp(-(((total - 2 * first) / (0.5 * first)) ** 2));
