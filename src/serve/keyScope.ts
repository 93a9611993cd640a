/** Which targets and which user a narrowed key, such as a browser token, may give feedback for. */
import { createHash } from "node:crypto";
import type { ReceivedSignal, ServedResponse, Target } from "../core/served.ts";
import type { Only } from "./keys.ts";

/** Most responses that one request of a narrowed key may name. */
const mostNamed = 20;

/**
 * Sets the signal's user to the key's user, whatever the signal says, and puts its idempotency key into the key's own namespace,
 * so that no page can take another page's key.
 */
export function withinScope(signal: ReceivedSignal, only: Only): ReceivedSignal {
  const { user: _claimed, key, ...rest } = signal;
  return {
    ...rest,
    source: "user",
    ...(only.user === undefined ? {} : { user: only.user }),
    ...(key === undefined ? {} : { key: keyWithin(only, key) }),
  };
}

/** An idempotency key unique to `key` and `only`, short enough for the store. Clients cannot send tabs, so a tab separates. */
function keyWithin({ session, response, user }: Only, key: string): string {
  const scope = JSON.stringify([session, response, user, key]);
  return `narrowed\t${createHash("sha256").update(scope).digest("base64url")}`;
}

/** Whether every target lies within what the key is narrowed to. @param find reads a served response. */
export async function isAllWithin(
  signals: readonly ReceivedSignal[],
  only: Only,
  find: (id: string) => Promise<ServedResponse | undefined>,
): Promise<boolean> {
  const targets = signals.flatMap((s) => s.about);
  const named = new Set(targets.flatMap(({ response }) => (response === undefined ? [] : [response])));
  if (named.size > mostNamed) return false;
  const known = new Map<string, ServedResponse>();
  for (const id of named) {
    const response = await find(id);
    if (response) known.set(id, response);
  }
  return targets.every((target) => isWithin(target, only, known));
}

function isWithin(
  { response, session, trajectory }: Target,
  only: Only,
  known: ReadonlyMap<string, ServedResponse>,
): boolean {
  if (response !== undefined) {
    const found = known.get(response);
    // an unknown response may belong to anyone, unless it is the one that the key names
    if (!found) return only.session === undefined && response === only.response;
    return (
      isWithinResponse(found, only) &&
      (session === undefined || session === found.session) &&
      (trajectory === undefined || trajectory === found.trajectory)
    );
  }
  // a whole session needs a key for a whole session
  if (only.session === undefined || only.response !== undefined) return false;
  if (session !== undefined && session !== only.session) return false;
  if (trajectory === undefined) return true;
  // session names may contain slashes
  const end = trajectory.lastIndexOf("/");
  return end >= 0 && trajectory.slice(0, end) === only.session;
}

/** Whether a key covers a response. `user` is the author of feedback; if it is the only restriction, it also restricts the responses. */
export function isWithinResponse(found: ServedResponse, { response, session, user }: Only): boolean {
  if (response === undefined && session === undefined) return user === found.user;
  return (
    (response === undefined || response === found.id) && (session === undefined || session === found.session)
  );
}
