/** Limits for one client: body sizes and request rates. */
import type { BodyLimits } from "../http/body.ts";

/** Limits of a list of feedback. */
export const feedbackBody: BodyLimits = { bytes: 2 ** 20, depth: 16, values: 50_000, names: 1000 };
/** Limits of a few settings, which may include the files of an artefact. */
export const settingsBody: BodyLimits = { bytes: 2 ** 20, depth: 16, values: 2000, names: 1000 };

/** A rate limit: sustained requests per second, and the burst allowed after a pause. */
export interface Rate {
  readonly perSecond: number;
  readonly burst: number;
}

export interface Buckets {
  /** Takes one of `who`'s tokens. @returns 0, or the seconds until the next token. */
  take(who: string, now: number): number;
  readonly size: number;
}

/**
 * One token bucket per client: full at first, refilled at the rate. Above `most` clients the least recently active bucket is
 * dropped; that client starts with a full bucket again, so no client gets less than its rate.
 */
export function tokenBuckets({ perSecond, burst }: Rate, most = 10_000): Buckets {
  const buckets = new Map<string, { left: number; at: number }>();
  const leftAt = (who: string, now: number): number => {
    const known = buckets.get(who);
    if (!known) return burst;
    return Math.min(burst, known.left + (Math.max(0, now - known.at) / 1000) * perSecond);
  };
  const waitFor = (left: number): number => (left >= 1 ? 0 : (1 - left) / perSecond);
  return {
    take(who, now) {
      const left = leftAt(who, now);
      buckets.delete(who); // to the end of the map's order
      buckets.set(who, { left: left >= 1 ? left - 1 : left, at: now });
      if (buckets.size > most) {
        for (const oldest of buckets.keys()) {
          buckets.delete(oldest);
          break;
        }
      }
      return waitFor(left);
    },
    get size() {
      return buckets.size;
    },
  };
}
