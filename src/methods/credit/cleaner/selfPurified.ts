import { matchingRatio } from "../../../common/text/similarity.ts";
import { concatIds } from "../../../common/tokens/sequence.ts";
import type { Ctx } from "../../../core/context.ts";
import type { Codec } from "../../../core/model.ts";
import type { Rollout } from "../../../core/slots.ts";
import type { Id, Trajectory, Turn } from "../../../core/types.ts";

/** Settings of {@link selfPurified}. */
export interface SelfPurifiedOptions {
  /** Whether an action failed and is tried again. Default: the environment commented on it (`Turn.text`). */
  readonly failed?: (turn: Turn) => boolean;
  /** Text that opens the call within an action; the reasoning precedes it. Default "<tool_call>". */
  readonly opening?: string;
  /** Token similarity from which the failed action's reasoning is kept. Default 0.5; 0 always keeps it, above 1 never. */
  readonly similarity?: number;
  /** Most consecutive failures that are removed; longer runs stay, and so does everything after them. Default 3. */
  readonly retries?: number;
  /** Share of the trajectories that are cleaned. Default 1. */
  readonly share?: number;
}

/**
 * Rewrites trajectories as if each corrected action had been made at once: failed actions and the environment's messages
 * about them are removed, and the episode continues without them in its context.
 *
 *     turn ← (reasoning of the failed one, corrected call)   where matchingRatio(failed call, corrected call) ≥ similarity
 *     turn ← the corrected action whole                      elsewhere, or where either has no call
 *
 * Each repair replays the episode's beginning with the corrected action, so that later turns are sampled in the clean
 * context; such a replay counts as an episode. Corrected tokens were sampled in another context: their log-probabilities
 * are unknown and are scored before training, as in other rewritten trajectories. Failures that end the episode stay. A trajectory that is not the only one
 * of its episode is unchanged. Needs an environment that can replay, and in which failed actions change nothing.
 *
 * Stats: repairs per trajectory. Counts tokens.discarded.
 * Paper: "CLEANER: Self-Purified Trajectories Boost Agentic Reinforcement Learning".
 */
export function selfPurified(rollout: Rollout, options: SelfPurifiedOptions = {}): Rollout {
  const { share = 1 } = options;
  return async (ctx) => {
    const raw = await rollout(ctx);
    const count = raw.trajectories.length;
    const alone = Map.groupBy(raw.trajectories, (t) => t.episode);
    const cleaned = await Promise.all(
      raw.trajectories.map((t, i) => {
        const chosen = ctx.random.split("purified", t.id).next() < share;
        if (!chosen || t.end.kind === "failed" || alone.get(t.episode)!.length > 1) return { t, repairs: 0 };
        return purify(ctx, t, (round) => count * (round + 1) + i, options);
      }),
    );
    const renamed = new Map(raw.trajectories.map((t, i): [Id, Id] => [t.id, cleaned[i]!.t.id]));
    const repairs = cleaned.reduce((sum, c) => sum + c.repairs, 0);
    return {
      ...raw,
      trajectories: cleaned.map((c) => c.t),
      units: raw.units.map((unit) => ({ ...unit, members: unit.members.map((id) => renamed.get(id) ?? id) })),
      stats: { ...raw.stats, ...(count > 0 && { repairs: repairs / count }) },
    };
  };
}

/** @param attempt a unique number for each replay. */
async function purify(
  ctx: Ctx,
  raw: Trajectory,
  attempt: (round: number) => number,
  options: SelfPurifiedOptions,
): Promise<{ readonly t: Trajectory; readonly repairs: number }> {
  const { failed = (turn: Turn) => turn.text !== undefined, retries = 3 } = options;
  let t = raw;
  let repairs = 0;
  for (let done = 0; ; ) {
    const at = t.turns.findIndex((turn, k) => k >= done && failed(turn));
    const until = t.turns.findIndex((turn, k) => k > at && !failed(turn));
    if (at < 0 || until < 0 || until - at > retries) return { t, repairs };
    const codec = ctx.model(t.turns[at]!.model).codec;
    const turn = t.turns
      .slice(at + 1, until + 1)
      .reduce((a, b) => corrected(a, b, codec, options), t.turns[at]!);
    const repaired = { ...t, turns: [...t.turns.slice(0, at), turn] };
    const [again] = await ctx.play({
      task: t.task,
      attempt: attempt(repairs),
      from: { trajectory: repaired, turn: at + 1, why: "retry" },
    });
    if (!again || again.end.kind === "failed") return { t, repairs };
    ctx.count("tokens.discarded", tokensIn(t.turns.slice(at)) - tokensIn([turn]));
    t = { ...again, lineage: { parent: raw.id, turn: at, why: "rewrite" } };
    done = at + 1;
    repairs++;
  }
}

/** The text that replaces a failed action, once the next one has been tried. */
function corrected(before: Turn, next: Turn, codec: Codec, options: SelfPurifiedOptions): Turn {
  const { opening = "<tool_call>", similarity = 0.5 } = options;
  const { text: _said, ...turn } = before;
  const [old, fresh] = [before.tokens, next.tokens];
  if (!old || !fresh) return { ...turn, action: next.action, stop: next.stop, rewards: {} };
  const [i, j] = [old, fresh].map(({ action }) => callStart(action, opening, codec));
  const keeps =
    i !== undefined &&
    j !== undefined &&
    matchingRatio(old.action.subarray(i), fresh.action.subarray(j)) >= similarity;
  const [kept, taken] = keeps ? [i, j] : [0, 0];
  const action = concatIds([old.action.subarray(0, kept), fresh.action.subarray(taken)]);
  const known = (xs: Float32Array): Float32Array =>
    Float32Array.from(action, (_, a) => (a < kept ? xs[a]! : Number.NaN));
  return {
    ...turn,
    action: { role: "assistant", content: codec.decode(action) },
    tokens: { prompt: old.prompt, action, logp: known(old.logp), behaviour: known(old.behaviour) },
    spans: {},
    stop: next.stop,
    rewards: {},
  };
}

/** Index of the token after the one that completes the opening; undefined where there is none. */
function callStart(action: Int32Array, opening: string, codec: Codec): number | undefined {
  const last = action.findIndex((_, i) => codec.decode(action.subarray(0, i + 1)).includes(opening));
  return last < 0 ? undefined : last + 1;
}

const tokensIn = (turns: readonly Turn[]): number =>
  turns.reduce((sum, turn) => sum + (turn.tokens?.action.length ?? 0), 0);
