import { signalValue } from "../core/signal.ts";
import type { Credit, Credited } from "../core/slots.ts";

/** Every signal that carries a number counts for the whole trajectory that it is about. Preferences carry none. */
export function toTrajectory(): Credit {
  return ({ signals }) => {
    // a channel has whatever name its giver chose, also one that every object has something of
    const channels = new Map<string, Credited[]>();
    for (const signal of signals) {
      const value = signalValue(signal);
      if (value === undefined || signal.kind === "preference") continue;
      const into = channels.get(signal.channel) ?? [];
      channels.set(signal.channel, into);
      for (const { trajectory } of signal.about) into.push({ at: { trajectory }, value });
    }
    return Object.fromEntries(channels);
  };
}
