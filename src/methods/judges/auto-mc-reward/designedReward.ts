import { z } from "zod";
import type { Ctx } from "../../../core/context.ts";
import { counted } from "../../../core/evaluator.ts";
import type { Signal } from "../../../core/signal.ts";
import type { Feedback } from "../../../core/slots.ts";
import { succeeded, type Trajectory } from "../../../core/types.ts";
import { turnRewards } from "../../../feedback/turnRewards.ts";
import {
  type Authors,
  accepted,
  type DraftOptions,
  type Failures,
  samplesOf,
  type Version,
} from "./design.ts";
import { type Fields, type FieldsOf, framesOf, paid, ranReward, seenText } from "./rewardCode.ts";

/** Settings of {@link designedReward}. */
export interface DesignedRewardOptions extends DraftOptions {
  readonly authors: Authors;
  /** What the code sees of a state. Default: the text that the agent saw. */
  readonly fieldsOf?: FieldsOf;
  /** R, versions that are tried. */
  readonly rounds: number;
  /** Iterations that each version trains. */
  readonly iterations: number;
  /** ε: after the first success, a version that does not gain as much over the best one is the last. −1: never. */
  readonly gain: number;
  /** K, failed attempts that the analyser reads. */
  readonly failures: number;
  /** L, last states of each of them. */
  readonly last: number;
}

const version = z.object({ code: z.string(), success: z.number(), analysis: z.string() });
const state = z.object({
  /** The version in use; null where none was accepted. */
  code: z.string().nullable(),
  /** Rounds that were begun. */
  round: z.number(),
  /** Iteration in which the version in use began. */
  since: z.number(),
  /** Attempts and successes in the second half of the round. */
  played: z.number(),
  won: z.number(),
  best: version.nullable(),
  /** No further version is tried. */
  settled: z.boolean(),
  /** The iteration whose end brings the policy back to its first weights. */
  restart: z.number().nullable(),
});
/** Where the loop stands, in the run's memory. */
export type DesignState = z.infer<typeof state>;

const memoryKey = "designedReward";

/** Where the loop of a run stands; undefined before its first iteration. */
export function designStateOf(ctx: Pick<Ctx, "memory">): DesignState | undefined {
  const kept = ctx.memory.get(memoryKey);
  return kept === undefined ? undefined : state.parse(kept);
}

/**
 * Rewards by code that is designed while the run goes on. Each version of the code trains the policy from its first weights for a round; its worth
 * is the share of true successes in the second half of the round, which the code never sees. After a round the analyser reads failed attempts, and
 * the designer revises the best version so far. After the last round the best version trains, from the first weights again unless it is the one
 * in use. {@link fromStart} brings the weights back.
 *
 *     r_t = sgn(sparse) + weight · sgn(dense)           (dense, sparse) = code(fields before, fields after, memory)
 *
 * The last action of an attempt leads to no state that is seen, and pays 0. Where no draft was accepted the environment's own rewards are paid; code that
 * fails while it trains pays nothing in that iteration, which counts as a failure of a judge. Signals are on channel "outcome".
 * Paper: "Auto MC-Reward: Automated Dense Reward Design with Large Language Models for Minecraft".
 */
export function designedReward(options: DesignedRewardOptions): Feedback {
  const { weight, fieldsOf = seenText, iterations } = options;
  const own = turnRewards({ unpaid: "zero" });
  return async (ctx, experience, notes) => {
    const played = experience.trajectories.filter((t) => t.end.kind !== "failed" && t.turns.length > 0);
    const now = ctx.clock.iteration;
    const attempts = played.map((t) => framesOf(t, fieldsOf));
    let at = designStateOf(ctx);
    if (!at) {
      const code = await designed(ctx, options, attempts, null);
      at = { ...unplayed, code, round: 1, since: now, best: null };
    }
    const ran = at.code === null ? undefined : await ranReward(at.code, attempts);
    const said = ran?.kind === "ok" ? ran.said : undefined;
    if (ran?.kind === "error") ctx.count("judge.failures", 1);
    const past = now - at.since + 1;
    if (past > iterations / 2) {
      const won = at.won + played.filter(succeeded).length;
      at = { ...at, played: at.played + played.length, won };
    }
    if (!at.settled && past >= iterations) {
      const failed = played.flatMap((t, i) => (succeeded(t) ? [] : [i]));
      const rewards = said
        ? samplesOf(attempts, said, weight)
        : attempts.map((frames) => ({ frames, paid: [] }));
      const analysis = await analysed(
        ctx,
        options,
        failed.map((i) => rewards[i]!),
      );
      at = await nextRound(ctx, options, attempts, at, analysis);
    }
    ctx.memory.set(memoryKey, at);
    if (ran === undefined) return own(ctx, experience, notes);
    return said
      ? played.flatMap((t, i) =>
          signalsOf(
            t,
            said[i]!.map((s) => paid(s, weight)),
          ),
        )
      : [];
  };
}

/** Of a round that begins. */
const unplayed = { played: 0, won: 0, settled: false, restart: null } as const;

/** Closes a round: the version is measured, and the next one is written, or the best one stays. */
async function nextRound(
  ctx: Ctx,
  options: DesignedRewardOptions,
  recorded: readonly (readonly Fields[])[],
  { code, round, played, won, best: before }: DesignState,
  analysis: string,
): Promise<DesignState> {
  const success = played === 0 ? 0 : won / played;
  const better = code !== null && (before === null || success >= before.success);
  const best: Version | null = better ? { code, success, analysis } : before;
  const little = before !== null && before.success > 0 && success - before.success < options.gain;
  const now = ctx.clock.iteration;
  if (round >= options.rounds || little) {
    const stays = best === null || best.code === code;
    const last = { ...unplayed, code: best?.code ?? null, round, since: now + 1, best };
    return { ...last, settled: true, restart: stays ? null : now };
  }
  const next = await designed(ctx, options, recorded, best);
  return { ...unplayed, code: next, round: round + 1, since: now + 1, best, restart: now };
}

/** A new version; null where no draft was accepted, or nothing was recorded. */
async function designed(
  ctx: Ctx,
  { authors, drafts, weight, reviewed }: DesignedRewardOptions,
  recorded: readonly (readonly Fields[])[],
  previous: Version | null,
): Promise<string | null> {
  const fields = recorded[0]?.[0];
  if (fields === undefined) return null;
  const task = ctx.tasks[0]?.prompt.map(({ content }) => content).join("\n") ?? "";
  const request = { task, fields, ...(previous && { previous }) };
  const random = ctx.random.split("design");
  const code = await accepted(ctx, authors, request, recorded, {
    ...{ drafts, weight, random },
    ...(reviewed === undefined ? {} : { reviewed }),
  });
  return code ?? null;
}

/** Causes and suggestions from the last states of some failed attempts; empty without an analyser, failures or an answer. */
async function analysed(
  ctx: Ctx,
  { authors: { analyser }, failures: most, last }: DesignedRewardOptions,
  failed: Failures,
): Promise<string> {
  if (!analyser || failed.length === 0) return "";
  const read = failed
    .slice(0, most)
    .map(({ frames, paid: rewards }) => ({ frames: frames.slice(-last), paid: rewards.slice(1 - last) }));
  const said = await counted(analyser, ctx).critique(read, { random: ctx.random.split("analyser") });
  return said?.text ?? "";
}

const signalsOf = (t: Trajectory, rewards: readonly number[]): readonly Signal[] =>
  t.turns.map((_, turn) => ({
    kind: "reward",
    channel: "outcome",
    about: [{ trajectory: t.id, turn }],
    value: rewards[turn] ?? 0,
    source: "reward code",
  }));
