import type { Ctx } from "../../../core/context.ts";
import type { Signal } from "../../../core/signal.ts";
import type { Feedback } from "../../../core/slots.ts";
import { succeeded, type Trajectory } from "../../../core/types.ts";
import type { Frames, Judged } from "./frameJudge.ts";

/** Settings of {@link judgedFrames}. */
export interface JudgedFramesOptions {
  /** w_c. */
  readonly contrast: number;
  /** w_p. */
  readonly progress: number;
  /** w_d. */
  readonly completion: number;
  /** Whether progress itself is paid in every step, in place of what it gained. Default false. */
  readonly absolute?: boolean;
  /** Attempts of the environment's expert at training tasks that the judge is fitted to before the first iteration is rewarded. */
  readonly demonstrations: number;
  /** Name of the judge among the helpers. Default "judge". */
  readonly judge?: string;
}

/** The frames of an attempt: what was seen before each action. */
export const framesOf = ({ turns }: Trajectory): Frames =>
  turns.map(({ prompt }) => prompt.at(-1)?.content ?? "");

/**
 * Rewards for single actions from a judge of frames:
 *
 *     r_t = w_c · c(o_t, o_{t+1}) + w_p · (p(o_{t+1}) − p(o_t)) + w_d · d(o_{t+1})
 *
 * c, p and d as of `frameJudge`. The frame after an action is what is seen before the next one, so that the last action of an attempt gets
 * nothing. From the first frame that is judged to be the goal on, nothing more is paid: the attempt counts as over. In the first iteration the
 * judge is fitted, once, to attempts of the environment's expert and to the iteration's own failures; it needs no rewards of the environment.
 * Signals are on channel "outcome". Paper: "Large Reward Models: Generalizable Online Robot Reward Generation with Vision-Language Models".
 */
export function judgedFrames(options: JudgedFramesOptions): Feedback {
  const { judge = "judge", absolute = false } = options;
  return async (ctx, { trajectories }) => {
    const played = trajectories.filter((t) => t.end.kind !== "failed" && t.turns.length > 0);
    const helper = ctx.helper<Frames, number, Judged>(judge);
    const key = `judgedFrames ${judge}`;
    if (ctx.memory.get(key) === undefined) {
      const shown = await demonstrated(ctx, options.demonstrations);
      const failed = played.filter((t) => !succeeded(t));
      await helper.fit([
        ...shown.map((t) => ({ x: framesOf(t), y: Number(succeeded(t)), weight: 1 })),
        ...failed.map((t) => ({ x: framesOf(t), y: 0, weight: 1 })),
      ]);
      ctx.memory.set(key, shown.length);
    }
    const signals: Signal[] = [];
    for (const t of played) {
      const frames = framesOf(t);
      const said = await helper.predict(frames.slice(1).map((now, k) => [frames[k]!, now]));
      const end = said.findIndex(({ completed }) => completed);
      const paid = end < 0 ? said : said.slice(0, end + 1);
      frames.forEach((_, turn) => {
        const at = paid[turn];
        const value = at
          ? options.contrast * at.contrast +
            options.progress * (absolute ? at.progress : at.gain) +
            options.completion * Number(at.completed)
          : 0;
        signals.push({
          kind: "reward",
          channel: "outcome",
          about: [{ trajectory: t.id, turn }],
          value,
          source: judge,
        });
      });
    }
    return signals;
  };
}

/** Attempts of the environment's expert at the run's training tasks, in turn. */
async function demonstrated(ctx: Ctx, count: number): Promise<readonly Trajectory[]> {
  const all = await Promise.all(
    Array.from({ length: count }, (_, i) =>
      ctx.play({
        task: ctx.tasks[i % ctx.tasks.length]!.id,
        attempt: Math.floor(i / ctx.tasks.length),
        player: "expert",
      }),
    ),
  );
  return all.flat().filter((t) => t.end.kind !== "failed" && t.turns.length > 0);
}
