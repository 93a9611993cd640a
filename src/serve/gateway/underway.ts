/** Which conversations can be continued, and which running calls continue them. */
import type { Id } from "../../core/types.ts";

/** A call until it is placed. */
export interface UnplacedCall {
  /** The conversation that it continues, if the call names no session. */
  readonly from: string | undefined;
  readonly user: Id | undefined;
  begun: boolean;
}

interface CallOfSession {
  readonly session: Id;
  readonly underway: UnplacedCall;
}

/** Calls that run: how many continue a conversation of a session, and the first caller of each session. */
export interface UnplacedCalls {
  begin(call: CallOfSession): void;
  /** Removes a running call; does nothing for another one. */
  end(call: CallOfSession): void;
  continues(conversation: string, session: Id): boolean;
  firstOf(session: Id): { readonly user: Id | undefined } | undefined;
}

export function unplacedCalls(): UnplacedCalls {
  const continuing = new Map<string, number>();
  const running = new Map<Id, { readonly user: Id | undefined; calls: number }>();
  return {
    begin({ session, underway }) {
      underway.begun = true;
      if (underway.from !== undefined) {
        const place = `${underway.from}\n${session}`;
        continuing.set(place, (continuing.get(place) ?? 0) + 1);
      }
      const first = running.get(session) ?? { user: underway.user, calls: 0 };
      first.calls++;
      running.set(session, first);
    },
    end({ session, underway }) {
      if (!underway.begun) return;
      underway.begun = false;
      if (underway.from !== undefined) {
        const place = `${underway.from}\n${session}`;
        const others = (continuing.get(place) ?? 0) - 1;
        if (others > 0) continuing.set(place, others);
        else continuing.delete(place);
      }
      const first = running.get(session);
      if (first && --first.calls === 0) running.delete(session);
    },
    continues: (conversation, session) => continuing.has(`${conversation}\n${session}`),
    firstOf: (session) => running.get(session),
  };
}

/** Sessions by the digest of a conversation that can be continued. */
export interface Conversations {
  link(conversation: string, session: Id): void;
  unlink(conversation: string, session: Id): void;
  has(conversation: string): boolean;
  /** The latest session for which `isTaken` is false, otherwise the latest. */
  latest(conversation: string, isTaken: (session: Id) => boolean): Id | undefined;
}

export function conversationIndex(): Conversations {
  /** Mostly one session; of several with identical conversations, the latest last. */
  const sessions = new Map<string, Id | Set<Id>>();
  return {
    link(conversation, session) {
      const alike = sessions.get(conversation);
      if (alike === undefined) sessions.set(conversation, session);
      else if (alike instanceof Set) alike.add(session);
      else if (alike !== session) sessions.set(conversation, new Set([alike, session]));
    },
    unlink(conversation, session) {
      const alike = sessions.get(conversation);
      if (alike === session || (alike instanceof Set && alike.delete(session) && alike.size === 0)) {
        sessions.delete(conversation);
      }
    },
    has: (conversation) => sessions.has(conversation),
    latest(conversation, isTaken) {
      const alike = sessions.get(conversation);
      if (!(alike instanceof Set)) return alike;
      const ids = [...alike];
      return ids.findLast((id) => !isTaken(id)) ?? ids.at(-1);
    },
  };
}
