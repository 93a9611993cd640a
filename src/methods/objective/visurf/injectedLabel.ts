import { signalValue } from "../../../core/signal.ts";
import type { Credit, Credited } from "../../../core/slots.ts";
import type { Id } from "../../../core/types.ts";

/** Settings of {@link injectedLabel}. */
export interface InjectedLabelOptions {
  /** Channels withheld from a label, e.g. a format that it does not have. Default: "format". */
  readonly withheld?: readonly string[];
  /** Whether the label's return is set to the attempts' mean once one of them does as well. Default true. */
  readonly fades?: boolean;
  /** Default "outcome". */
  readonly channel?: string;
}

/**
 * Credit for groups that contain a demonstration, the label, among the policy's own attempts.
 *
 *     R[i] = Σ signals about i                            attempts
 *     R[*] = Σ signals about * that are not withheld      the label
 *     R[*] ← mean(R[i])   where max(R[i]) ≥ R[*]          so that its normalised advantage is 0
 *
 * Once an attempt does as well as the label, imitating the label would only enforce its style. The result is one channel
 * with one number per trajectory. A trajectory without signals gets none; if a group's attempts have none, its label is
 * unchanged. Several labels of a group are treated one by one.
 * Paper: "ViSurf: Visual Supervised-and-Reinforcement Fine-Tuning for Large Vision-and-Language Models".
 */
export function injectedLabel(options: InjectedLabelOptions = {}): Credit {
  const { withheld = ["format"], fades = true, channel = "outcome" } = options;
  return ({ signals, trajectories, units }) => {
    const labels = new Set(trajectories.filter((t) => t.origin === "demonstrated").map((t) => t.id));
    const returns = new Map<Id, number>();
    for (const signal of signals) {
      const value = signalValue(signal);
      if (value === undefined || signal.kind === "preference") continue;
      for (const { trajectory } of signal.about) {
        const counts = !labels.has(trajectory) || !withheld.includes(signal.channel);
        returns.set(trajectory, (returns.get(trajectory) ?? 0) + (counts ? value : 0));
      }
    }
    const faded = new Map(returns);
    for (const group of fades ? Map.groupBy(units, (unit) => unit.group).values() : []) {
      const members = group.flatMap((unit) => unit.members);
      const own = members.filter((id) => !labels.has(id)).flatMap((id) => returns.get(id) ?? []);
      if (own.length === 0) continue;
      const mean = own.reduce((sum, x) => sum + x, 0) / own.length;
      for (const id of members) {
        const label = returns.get(id);
        if (labels.has(id) && label !== undefined && Math.max(...own) >= label) faded.set(id, mean);
      }
    }
    const credits = [...faded].map(([trajectory, value]): Credited => ({ at: { trajectory }, value }));
    return { [channel]: credits };
  };
}
