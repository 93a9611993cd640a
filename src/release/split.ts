/** Assigns units to versions. */
import { present } from "../core/errors.ts";
import { randomStream } from "../core/random.ts";
import type { TrafficSplit } from "../core/served.ts";
import type { Id } from "../core/types.ts";

/** The version that a unit gets, with its probability. */
export interface Assignment {
  readonly version: Id;
  /** Probability, over all units, of being assigned this version: its share. */
  readonly propensity: number;
}

/**
 * The version of one unit, by weighted rendezvous hashing: every pair of unit and version has its own number u in (0, 1],
 * hashed from their names, and the version with the smallest −ln u / share answers. These are exponential clocks with rates
 * `share`, so version v is first with probability exactly share_v.
 *
 * The numbers do not depend on the split. Hence a unit gets the same version in every process, and when shares change, as
 * few units as possible move: a version whose share alone grows only gains units, one whose share alone shrinks only loses
 * them, and the units of a removed version are distributed to the others. Between any two splits with total variation
 * distance d, at most 2d / (1 + d) of the units move, where at least d of them have to ("Coupling without Communication and
 * Drafter-Invariant Speculative Decoding"). The price: units that had one candidate are more likely than others to get the
 * next one, since both beat the same late clock of the other version.
 */
export function assign(split: Pick<TrafficSplit, "shares">, unit: Id): Assignment {
  const of = randomStream(unit);
  let first: Assignment | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const [version, share] of Object.entries(split.shares)) {
    const clock = -Math.log(1 - of.split(version).next()) / share;
    // ties go by name, so that the order of the record does not matter
    if (first === undefined || clock < least || (clock === least && version < first.version)) {
      first = { version, propensity: share };
      least = clock;
    }
  }
  return present(first, "assign", "version in the split");
}

/** The unit that a call is assigned by under a split; without a known user, its session. */
export function unitOf(
  split: Pick<TrafficSplit, "unit">,
  call: { readonly session: Id; readonly response: Id; readonly user?: Id },
): Id {
  switch (split.unit) {
    case "session":
      return call.session;
    case "user":
      return call.user ?? call.session;
    case "response":
      return call.response;
  }
}
