/** Reads served sessions: all responses of a session, with all signals on them. */
import { rejectedAmong, reviewedSignal } from "../common/text/reviews.ts";
import type { ReceivedSignal, ServedResponse } from "../core/served.ts";
import type { Id } from "../core/types.ts";
import type { ResponseFilter, TrafficStore } from "../store/trafficStore.ts";

/** The part of the store that is read here. */
export type Served = Pick<TrafficStore, "responses" | "signals">;

/** A complete session. */
export interface ServedSession {
  readonly id: Id;
  /** By trajectory, each by turn, then by time. */
  readonly trajectories: ReadonlyMap<Id, readonly ServedResponse[]>;
  /** By arrival, without reviews of other signals. */
  readonly signals: readonly ReceivedSignal[];
  /** Ids of its corrections and demonstrations that the latest review rejected. */
  readonly rejected: ReadonlySet<Id>;
}

/**
 * Sessions with at least one matching response, in the order of their first one. A session includes its other responses,
 * too, since earlier turns determine whether a reply is good or bad. Only one session at a time is in memory.
 * @param filter `heardUntil`: only feedback that arrived earlier, in milliseconds since 1970.
 */
export async function* servedSessions(
  production: Served,
  filter: ResponseFilter & { readonly heardUntil?: number } = {},
): AsyncGenerator<ServedSession> {
  const { heardUntil: until } = filter;
  const seen = new Set<Id>();
  for await (const { session } of production.responses(filter)) {
    if (seen.has(session)) continue;
    seen.add(session);
    const responses = await collect(production.responses({ session }));
    const heard = await collect(production.signals({ session, ...(until === undefined ? {} : { until }) }));
    const trajectories = Map.groupBy(responses, (response) => response.trajectory);
    for (const turns of trajectories.values()) turns.sort((a, b) => a.turn - b.turn || a.at - b.at);
    const signals = heard.filter((signal) => reviewedSignal(signal) === undefined);
    yield { id: session, trajectories, signals, rejected: rejectedAmong(heard) };
  }
}

/** Collects a stream into a list. */
export async function collect<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const out: T[] = [];
  for await (const one of stream) out.push(one);
  return out;
}

/** Whether a response matches the filter, by the same rules as in the store. */
export function matchesFilter(response: ServedResponse, filter: ResponseFilter): boolean {
  const { from = Number.NEGATIVE_INFINITY, until = Number.POSITIVE_INFINITY } = filter;
  const same = (["session", "user", "trajectory", "version", "split"] as const).every(
    (field) => filter[field] === undefined || filter[field] === response[field],
  );
  return same && response.at >= from && response.at < until;
}
