import type { Ctx } from "../../../core/context.ts";
import type { Signal } from "../../../core/signal.ts";
import type { Feedback } from "../../../core/slots.ts";
import { type Message, paid, succeeded, type Trajectory } from "../../../core/types.ts";

/** Settings of {@link evidenceReplay}. */
export interface EvidenceReplayOptions {
  /** Of an attempt that ends by itself. Default 1. */
  readonly form?: number;
  /** Of a right answer. Default 0.5. */
  readonly answer?: number;
  /** Of a right answer from the evidence alone. Default 0.5. */
  readonly evidence?: number;
  /** Whether the evidence pays only where the attempt's own answer was right. Default true. */
  readonly gated?: boolean;
}

/** q(z) = 1 above ½, else z: partly right answers pay a part. */
export const settled = (z: number): number => (z > 0.5 ? 1 : z);

/** What an attempt was shown after its first action, without anything that it wrote itself. */
export function evidenceOf({ turns }: Trajectory): readonly Message[] {
  const [first, ...later] = turns;
  if (!first) return [];
  const last = later.at(-1)?.prompt ?? [];
  return last.slice(first.prompt.length).filter(({ role }) => role !== "assistant");
}

/** Share of right, in [0, 1]: 1 for a success, else what the environment paid. */
const rightness = (t: Trajectory): number => (succeeded(t) ? 1 : Math.min(1, Math.max(0, paid(t))));

/**
 * Rewards whether the evidence that an attempt gathered is enough: the same policy answers once more, from the task and the evidence alone,
 * in a single turn. Its answer is graded by the environment and not trained on.
 *
 *     r = w_f · form + w_a · acc + w_e · q(acc) · q(acc′)          q(z) = 1 where z > ½, else z
 *
 * form: 1 where the attempt ended by itself and not at a limit. acc, acc′: how right the attempt's answer and the second one are. Without
 * evidence acc′ = 0, and so it is where nothing can come of it (q(acc) = 0): then nothing is asked. `gated: false` leaves out q(acc). One
 * signal for each attempt, on channel "outcome"; none for a failed one. Paper: "TimeSearch-R: Adaptive Temporal Search for Long-Form Video
 * Understanding via Self-Verification Reinforcement Learning".
 */
export function evidenceReplay(options: EvidenceReplayOptions = {}): Feedback {
  const { form = 1, answer = 0.5, evidence = 0.5, gated = true } = options;
  return async (ctx, { trajectories }) => {
    const played = trajectories.filter((t) => t.end.kind !== "failed");
    const signals = played.map(async (t, i): Promise<Signal> => {
      const right = rightness(t);
      const due = gated ? settled(right) : 1;
      const again = evidence > 0 && due > 0 ? await replayed(ctx, t, trajectories.length + i) : 0;
      const value = form * Number(t.end.kind === "done") + answer * right + evidence * due * settled(again);
      return { kind: "reward", channel: "outcome", about: [{ trajectory: t.id }], value, source: "evidence" };
    });
    return Promise.all(signals);
  };
}

/** How right the policy is with the evidence of an attempt alone. @param attempt a number that no other attempt of the iteration has. */
async function replayed(ctx: Ctx, t: Trajectory, attempt: number): Promise<number> {
  const advice = evidenceOf(t);
  if (advice.length === 0) return 0;
  const [again] = await ctx.play({ task: t.task, attempt, advice, limits: { turns: 1 } });
  return again && again.end.kind !== "failed" ? rightness(again) : 0;
}
