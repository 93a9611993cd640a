/** Loads stored sessions, and restricts narrowed keys to their own user's sessions. */

import { messageOf } from "../../core/errors.ts";
import type { Log } from "../../core/log.ts";
import type { Id } from "../../core/types.ts";
import type { TrafficStore } from "../../store/trafficStore.ts";
import type { Only } from "../keys.ts";
import type { Refused } from "../refusal.ts";
import type { Identity } from "./identity.ts";
import type { SessionTable } from "./sessions.ts";

export interface SessionAccess {
  /**
   * Loads a named session from the store if it is not in memory, so that a call can continue it.
   * @returns whether it could be read; nothing if there is nothing to load.
   */
  resume(session: Id): Promise<boolean> | undefined;
  /**
   * Restricts narrowed keys: a key for one user may not use another user's session, and a key for one session acts only for that
   * session's user. The body's `user`, which is meant for the provider, is then ignored.
   * @param resumed whether the stored session could be read.
   */
  within(who: Identity, only: Only, resumed: Promise<boolean> | undefined): Promise<Identity | Refused>;
}

export function sessionAccess(
  production: Pick<TrafficStore, "responses">,
  sessions: SessionTable,
  log: Log,
): SessionAccess {
  const resuming = new Map<Id, Promise<boolean>>();
  return {
    resume(session) {
      const underway = resuming.get(session);
      if (underway) return underway;
      if (sessions.knows(session)) return undefined;
      const reading = (async () => {
        try {
          for await (const response of production.responses({ session })) await sessions.remember(response);
          return true;
        } catch (e) {
          log(`a session could not be read: ${messageOf(e)}`, { level: "error" });
          return false;
        } finally {
          resuming.delete(session);
        }
      })();
      resuming.set(session, reading);
      return reading;
    },

    async within(who, only, resumed) {
      const { session, user, isFromBody } = who;
      // a key for both fixes the session's user, and a key for neither has no restriction
      const isForOne = (only.session === undefined) !== (only.user === undefined);
      if (session === undefined || user === undefined || !isForOne) return who;
      const isRead = resumed === undefined || (await resumed);
      const owner = isRead ? sessions.ownerOf(session) : undefined;
      if (owner?.user === user) return who;
      if (only.session !== undefined && isFromBody) return { session };
      if (!isRead) return unread;
      if (only.session !== undefined) return othersName;
      return owner === undefined ? who : othersSession;
    },
  };
}

const unread: Refused = {
  status: 503,
  code: "store_failed",
  message: "The session's user cannot be read at the moment. Send the request again later.",
  retryAfter: 5,
};
const othersSession: Refused = {
  status: 403,
  code: "narrowed_key",
  message:
    "This key is for one user, and the session is not that user's. Name another session, or use another key.",
};
const othersName: Refused = {
  status: 403,
  code: "narrowed_key",
  message:
    "This key is for one session, and the request names another user than that session's. Name no user, or use a key for that user.",
};
