import { mapById } from "../common/mapById.ts";
import { type Able, evaluatorIn } from "../core/evaluator.ts";
import type { Signal } from "../core/signal.ts";
import type { Feedback } from "../core/slots.ts";
import type { Id } from "../core/types.ts";

/** Settings of {@link winRates}. */
export interface WinRatesOptions {
  /** Default: the environment. */
  readonly evaluator?: Able<"compare">;
  /**
   * What an attempt is compared with: the other units of its group, or the attempts at its task that are in no unit, such as
   * an opponent's. Default "group".
   */
  readonly against?: "group" | "opponents";
  /** Subtracted from the win rate: with 1/2, an attempt that wins as often as it loses gets reward 0. Default 0. */
  readonly less?: number;
  /** Default "outcome". */
  readonly channel?: string;
}

/**
 * Win rate of an attempt against others at its task, by an evaluator that compares: a reward for each unit's trajectory.
 *
 *     R[y] = mean over y′ of P(y ≻ y′) − less
 *
 * Failed comparisons are ignored; an attempt without comparisons gets no signal. Failed episodes are no
 * opponents.
 */
export function winRates(options: WinRatesOptions = {}): Feedback {
  const { evaluator, against = "group", less = 0, channel = "outcome" } = options;
  return async (ctx, { trajectories, units }) => {
    const { compare } = evaluatorIn(ctx, evaluator ?? ctx.environment);
    const byId = mapById(trajectories);
    const groupOf = new Map<Id, Id>(units.flatMap((u) => u.members.map((id) => [id, u.group])));
    const rest = trajectories.filter((t) => !groupOf.has(t.id) && t.end.kind !== "failed");
    const signals = [...groupOf].map(async ([id, group]): Promise<Signal[]> => {
      const own = byId.get(id);
      if (!own) return [];
      const others =
        against === "group"
          ? trajectories.filter((t) => t !== own && groupOf.get(t.id) === group)
          : rest.filter((t) => t.task === own.task);
      const asked = others.map((other) => compare(own, other, ctx.random.split("compare", id, other.id)));
      const won = (await Promise.all(asked)).filter((p) => p !== undefined);
      if (won.length === 0) return [];
      const value = won.reduce((a, b) => a + b, 0) / won.length - less;
      return [
        {
          kind: "reward",
          channel,
          about: [{ trajectory: id }],
          value,
          source: evaluator?.name ?? "environment",
        },
      ];
    });
    return (await Promise.all(signals)).flat();
  };
}
