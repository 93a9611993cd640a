/** Served sessions as they are read back: everything that was answered in one, and everything that was said of it. */
import { rejectedAmong, reviewed } from "../common/text/reviews.ts";
import type { ReceivedSignal, ServedResponse } from "../core/served.ts";
import type { Id } from "../core/types.ts";
import type { Production, ResponseFilter } from "../store/production.ts";

/** What is read of a store here. */
export type Served = Pick<Production, "responses" | "signals">;

/** One session, whole. */
export interface ServedSession {
  readonly id: Id;
  /** By trajectory, each by turn, then by time. */
  readonly trajectories: ReadonlyMap<Id, readonly ServedResponse[]>;
  /** By arrival, without reviewers' words on them. */
  readonly signals: readonly ReceivedSignal[];
  /** Of these, corrections and demonstrations that were rejected when they were last reviewed. */
  readonly rejected: ReadonlySet<Id>;
}

/**
 * Sessions with at least one response that fits, in the order of their first such response. A session comes whole, also
 * the responses that do not fit: what was said before is what makes a reply good or bad. One session at a time is in memory.
 * @param filter `heardUntil`: only feedback that arrived before, in milliseconds since 1970.
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
    const responses = await gathered(production.responses({ session }));
    const heard = await gathered(production.signals({ session, ...(until === undefined ? {} : { until }) }));
    const trajectories = Map.groupBy(responses, (response) => response.trajectory);
    for (const turns of trajectories.values()) turns.sort((a, b) => a.turn - b.turn || a.at - b.at);
    const signals = heard.filter((signal) => reviewed(signal) === undefined);
    yield { id: session, trajectories, signals, rejected: rejectedAmong(heard) };
  }
}

/** All of a stream, in order. */
export async function gathered<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const out: T[] = [];
  for await (const one of stream) out.push(one);
  return out;
}

/** Whether a response is one that the filter asks for, as the store would say. */
export function fits(response: ServedResponse, filter: ResponseFilter): boolean {
  const { from = Number.NEGATIVE_INFINITY, until = Number.POSITIVE_INFINITY } = filter;
  const same = (["session", "user", "trajectory", "version", "split"] as const).every(
    (field) => filter[field] === undefined || filter[field] === response[field],
  );
  return same && response.at >= from && response.at < until;
}
