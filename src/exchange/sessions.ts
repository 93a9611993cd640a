/** Reads served sessions: all responses of a session, with all signals on them. */
import { rejectedAmong, reviewedSignal } from "../common/text/reviews.ts";
import type { ReceivedSignal, ServedResponse } from "../core/served.ts";
import type { Id } from "../core/types.ts";
import type { SessionFilter, TrafficStore } from "../store/trafficStore.ts";

/** The part of the store that is read here. */
export type Served = Pick<TrafficStore, "completeSessions">;

/** A complete session. */
export interface ServedSession {
  readonly id: Id;
  /** By trajectory, each by turn, then by time. */
  readonly trajectories: ReadonlyMap<Id, readonly ServedResponse[]>;
  /** Ids of the responses that match the filter. */
  readonly matching: ReadonlySet<Id>;
  /** By arrival, without reviews of other signals. */
  readonly signals: readonly ReceivedSignal[];
  /** Ids of its corrections and demonstrations that the latest review rejected. */
  readonly rejected: ReadonlySet<Id>;
}

/**
 * Sessions with at least one matching response, in the order of their first one. A session includes its other responses,
 * too, since earlier turns determine whether a reply is good or bad. Only some megabytes of sessions are in memory at a time.
 */
export async function* servedSessions(
  production: Served,
  filter: SessionFilter = {},
): AsyncGenerator<ServedSession> {
  for await (const { id, responses, signals, matching } of production.completeSessions(filter)) {
    const trajectories = Map.groupBy(responses, (response) => response.trajectory);
    for (const turns of trajectories.values()) turns.sort((a, b) => a.turn - b.turn || a.at - b.at);
    const feedback = signals.filter((signal) => reviewedSignal(signal) === undefined);
    yield { id, trajectories, matching, signals: feedback, rejected: rejectedAmong(signals) };
  }
}
