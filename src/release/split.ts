/** Which version answers whom. */
import { present } from "../core/errors.ts";
import { randomStream } from "../core/random.ts";
import type { Split } from "../core/served.ts";
import type { Id } from "../core/types.ts";

export interface Assignment {
  readonly version: Id;
  /** Probability, over all units, of being given this version: its share. */
  readonly propensity: number;
}

/**
 * The version of one unit, by weighted rendezvous hashing: every pair of unit and version has a number u in (0, 1] of its
 * own, made from their names alone, and the version with the smallest −ln u / share answers. These are exponential clocks
 * that run at rates `share`, so version v is first with probability share_v exactly.
 *
 * The numbers do not depend on the split. Hence the same unit always gets the same version, in every process, and when
 * shares change units stay where they are as far as can be: a version that alone gains only takes, one that alone loses
 * only gives, what a removed version leaves is shared out to the others, and between any two splits with total variation
 * distance d at most 2d / (1 + d) of the units move, where d of them have to ("Coupling without Communication and
 * Drafter-Invariant Speculative Decoding"). The price: who had one candidate is likelier than others to get the next, as
 * both were first before the same version's late clock.
 */
export function assign(split: Pick<Split, "shares">, unit: Id): Assignment {
  const of = randomStream(unit);
  let first: Assignment | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const [version, share] of Object.entries(split.shares)) {
    const clock = -Math.log(1 - of.split(version).next()) / share;
    // a tie goes by name: the order of the record must not matter
    if (first === undefined || clock < least || (clock === least && version < first.version)) {
      first = { version, propensity: share };
      least = clock;
    }
  }
  return present(first, "assign", "version in the split");
}

/** What a call is drawn for under a split; a call of nobody known is drawn for by its session. */
export function unitOf(
  split: Pick<Split, "unit">,
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
