import { signalValue } from "../core/signal.ts";
import type { Credit, Credited } from "../core/slots.ts";

/**
 * Every signal that carries a number counts for the turn that it is about; one about a whole trajectory counts for its
 * last turn, since nothing was known before. Preferences carry none.
 */
export function perTurn(): Credit {
  return ({ signals, trajectories }) => {
    const last = new Map(trajectories.map((t) => [t.id, t.turns.length - 1]));
    // a channel has whatever name its giver chose, also one that every object has something of
    const channels = new Map<string, Credited[]>();
    for (const signal of signals) {
      const value = signalValue(signal);
      if (value === undefined || signal.kind === "preference") continue;
      const into = channels.get(signal.channel) ?? [];
      channels.set(signal.channel, into);
      for (const at of signal.about) {
        const turn = at.turn ?? last.get(at.trajectory) ?? -1;
        if (turn >= 0) into.push({ at: { ...at, turn }, value });
      }
    }
    return Object.fromEntries(channels);
  };
}
