import { signalValue } from "../core/signal.ts";
import type { Credit, Credited } from "../core/slots.ts";

/**
 * Credits each signal with a number to the turn that it is about; a signal about a whole trajectory is credited to the
 * last turn, since it was unknown before. Preferences carry no number.
 */
export function perTurn(): Credit {
  return ({ signals, trajectories }) => {
    const last = new Map(trajectories.map((t) => [t.id, t.turns.length - 1]));
    // a Map, since a channel's name may be that of an inherited object property
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
