import { signalValue } from "../../../core/signal.ts";
import type { Credit, Credited } from "../../../core/slots.ts";
import type { Id } from "../../../core/types.ts";

/** Settings of {@link injectedLabel}. */
export interface InjectedLabelOptions {
  /** Channels that a label earns nothing on, e.g. for a form that it does not have. Default: "format". */
  readonly withheld?: readonly string[];
  /** Whether the label's return fades to the mean of the attempts once one of them does as well. Default true. */
  readonly fades?: boolean;
  /** Default "outcome". */
  readonly channel?: string;
}

/**
 * Credit for groups in which a demonstration, the label, stands among the policy's own attempts.
 *
 *     R[i] = Σ signals about i                            attempts
 *     R[*] = Σ signals about * that are not withheld      the label
 *     R[*] ← mean(R[i])   where max(R[i]) ≥ R[*]          so that its advantage is 0 in deviations of the group
 *
 * Once an attempt does as well as the label, the label has nothing left to say, and would only pull towards its own form.
 * One channel comes out, with one number per trajectory. A trajectory without signals gets none; a group whose attempts
 * got none keeps its label as it is. Several labels of a group are treated one by one.
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
