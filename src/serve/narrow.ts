/** What a narrowed key, such as one that a browser holds, may give feedback on, and in whose name. */
import { createHash } from "node:crypto";
import type { ReceivedSignal, ServedResponse, Target } from "../core/served.ts";
import type { Only } from "./keys.ts";

/** Responses that one request of a narrowed key may name. */
const mostNamed = 20;

/**
 * In the name of the key's user and of nobody else, whatever it says; its idempotency keys are its own, so that no page can
 * take another's.
 */
export function narrowed(signal: ReceivedSignal, only: Only): ReceivedSignal {
  const { user: _claimed, key, ...rest } = signal;
  return {
    ...rest,
    source: "user",
    ...(only.user === undefined ? {} : { user: only.user }),
    ...(key === undefined ? {} : { key: keyWithin(only, key) }),
  };
}

/** One for each key and what it is narrowed to, short enough for the store. What clients send holds no tab. */
function keyWithin({ session, response, user }: Only, key: string): string {
  const scope = JSON.stringify([session, response, user, key]);
  return `narrowed\t${createHash("sha256").update(scope).digest("base64url")}`;
}

/** Whether every target lies within what the key is narrowed to. @param find a response as it was served. */
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
    // one that is not known could be anybody's, unless it is the very one
    if (!found) return only.session === undefined && response === only.response;
    return (
      isWithinResponse(found, only) &&
      (session === undefined || session === found.session) &&
      (trajectory === undefined || trajectory === found.trajectory)
    );
  }
  // a session as a whole: only for keys that are for a session as a whole
  if (only.session === undefined || only.response !== undefined) return false;
  if (session !== undefined && session !== only.session) return false;
  if (trajectory === undefined) return true;
  // names of sessions may hold slashes themselves
  const end = trajectory.lastIndexOf("/");
  return end >= 0 && trajectory.slice(0, end) === only.session;
}

/** Whether a response is one that the key is for. A user says who gives feedback; alone, also whose responses are meant. */
export function isWithinResponse(found: ServedResponse, { response, session, user }: Only): boolean {
  if (response === undefined && session === undefined) return user === found.user;
  return (
    (response === undefined || response === found.id) && (session === undefined || session === found.session)
  );
}
