import { signalValue } from "../core/signal.ts";
import type { Credit, Credited } from "../core/slots.ts";

/** Credits each signal with a number to the whole trajectory that it is about. Preferences carry no number. */
export function toTrajectory(): Credit {
  return ({ signals }) => {
    // a Map, since a channel's name may be that of an inherited object property
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
