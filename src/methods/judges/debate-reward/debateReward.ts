import type { Ctx } from "../../../core/context.ts";
import { type Random, shuffled } from "../../../core/random.ts";
import type { Signal } from "../../../core/signal.ts";
import type { Feedback } from "../../../core/slots.ts";
import { paid, type Task, type Trajectory } from "../../../core/types.ts";
import type { ComparedExchanges } from "../../../helper/bradleyTerry.ts";
import { debated, type Margin } from "./debate.ts";

/** Settings of {@link debateReward}. */
export interface DebateRewardOptions {
  /** λ in [0, 1], the debate's share of the reward. */
  readonly lambda: number;
  /** L, items of evidence that a debate reveals; even, so that both sides reveal as many. */
  readonly items: number;
  /** The action that an attempt's is argued against; undefined where there is none. */
  readonly rivalOf: (ctx: Ctx, task: Task) => Promise<string | undefined>;
  /** Items of evidence of a task. Default: the words of its last message, each once. */
  readonly evidenceOf?: (task: Task) => readonly string[];
  /** Name of the helper that judges, a reward model of (evidence, action). Default "judge". */
  readonly judge?: string;
  /** "debate": both sides argue. "one": the attempt's side alone. "random": L items at random. "all": all there is. Default "debate". */
  readonly how?: "debate" | "one" | "random" | "all";
}

/** The words of the task's last message, each once. */
export const wordsOf = ({ prompt }: Task): readonly string[] => [
  ...new Set((prompt.at(-1)?.content ?? "").split(/\s+/).filter((word) => word !== "")),
];

/** Some of a task's evidence at random, as one text: what a judge is fitted to. The same for all attempts of an iteration. */
export const someEvidence = (
  ctx: Pick<Ctx, "random">,
  task: Task,
  items: number,
  evidenceOf = wordsOf,
): string => shuffled(evidenceOf(task), ctx.random.split("evidence", task.id)).slice(0, items).join(" ");

/** What an attempt did: its last action. */
export const actionOf = ({ turns }: Trajectory): string => turns.at(-1)?.action.content.trim() ?? "";

/**
 * Rewards actions that stay defensible where only part of the evidence is seen, and both sides choose the part: for each attempt, its action
 * and a rival one are argued for before a judge.
 *
 *     r = (1 − λ) · r_env + λ · u          u: outcome of the debate for the attempt, 0 where it does what the rival does
 *
 * The judge is a helper that scores an action by evidence; it is not fitted here. Before its first fit, u is 0. One signal for each attempt, on
 * channel "outcome"; failed episodes get none. Paper: "Reward Design for Justifiable Sequential Decision-Making".
 */
export function debateReward(options: DebateRewardOptions): Feedback {
  const { lambda, rivalOf } = options;
  return async (ctx, { trajectories }) => {
    const rivals = new Map<string, string | undefined>();
    for (const id of new Set(trajectories.map(({ task }) => task)))
      rivals.set(id, lambda > 0 ? await rivalOf(ctx, ctx.task(id)) : undefined);
    const outcomes = new Map<string, Promise<number>>();
    const played = trajectories.filter((t) => t.end.kind !== "failed");
    const signals = played.map(async (t): Promise<Signal> => {
      const [own, rival] = [actionOf(t), rivals.get(t.task)];
      const key = JSON.stringify([t.task, own]);
      const known = outcomes.get(key) ?? outcome(ctx, ctx.task(t.task), own, rival, options);
      outcomes.set(key, known);
      const value = (1 - lambda) * paid(t) + lambda * (await known);
      return { kind: "reward", channel: "outcome", about: [{ trajectory: t.id }], value, source: "debate" };
    });
    return Promise.all(signals);
  };
}

async function outcome(
  ctx: Ctx,
  task: Task,
  own: string,
  rival: string | undefined,
  { items, evidenceOf = wordsOf, judge = "judge", how = "debate" }: DebateRewardOptions,
): Promise<number> {
  if (rival === undefined || rival === own) return 0;
  const evidence = evidenceOf(task);
  const margin = await marginOf(ctx, { evidence, own, rival, judge });
  if (!margin) return 0;
  const sides = how === "one" ? ([1] as const) : ([1, 2] as const);
  if (how === "debate" || how === "one") return debated(margin, evidence.length, { items, sides });
  const random: Random = ctx.random.split("revealed", task.id, own);
  const all = evidence.map((_, e) => e);
  return Math.sign(margin(how === "all" ? all : shuffled(all, random).slice(0, items)));
}

interface Sides {
  readonly evidence: readonly string[];
  readonly own: string;
  readonly rival: string;
  readonly judge: string;
}

/**
 * The judge's margin for the attempt. It is asked about each item alone, and about none: its scores are taken to add up, as those of a linear
 * judge do. Undefined before its first fit.
 */
async function marginOf(ctx: Ctx, { evidence, own, rival, judge }: Sides): Promise<Margin | undefined> {
  const helper = ctx.helper<ComparedExchanges, number | null, number>(judge);
  const asked = (text: string): ComparedExchanges => ({
    first: { asked: text, replied: own },
    second: { asked: text, replied: rival },
  });
  const [none = Number.NaN, ...each] = await helper.predict(["", ...evidence].map(asked));
  if (Number.isNaN(none)) return undefined;
  return (revealed) => revealed.reduce((sum, e) => sum + each[e]! - none, none);
}
