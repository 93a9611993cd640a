/** The user and session of a call, from headers or from the base URL. */
import type { Context } from "hono";
import type { Only } from "../keys.ts";
import type { Refused } from "../refusal.ts";
import { nameIn } from "./headers.ts";

/** User and session, if the request names them. */
export interface Identity {
  readonly session?: string;
  readonly user?: string;
  /** Set if the user comes from the body's `user`, which is meant for the provider. */
  readonly isFromBody?: true;
}

/**
 * Reads the headers `x-whetstone-session` and `x-whetstone-user`, otherwise the path, otherwise (for the user) the body's `user`.
 * Names may be percent-encoded in headers, as in paths. A key narrowed to a session or a user sets that session or user.
 */
export function identityOf(
  c: Context,
  only: Only | undefined,
  bodyUser: string | undefined,
): Identity | Refused {
  const session = nameIn(c.req.header("x-whetstone-session")) ?? c.req.param("session") ?? only?.session;
  const named = nameIn(c.req.header("x-whetstone-user")) ?? c.req.param("user") ?? only?.user;
  const user = named ?? usable(bodyUser);
  for (const [name, value] of [
    ["session", session],
    ["user", user],
  ] as const) {
    if (value !== undefined && !isName(value)) return wrongName(name);
  }
  // a new call would create another response than the key's
  if (only?.response !== undefined) return narrowed("response");
  if (only?.session !== undefined && session !== only.session) return narrowed("session");
  if (only?.user !== undefined && user !== only.user) return narrowed("user");
  return {
    ...(session === undefined ? {} : { session }),
    ...(user === undefined ? {} : { user }),
    ...(named === undefined && user !== undefined ? { isFromBody: true } : {}),
  };
}

/** 1 to 200 characters without control characters. */
const isName = (text: string): boolean => /^[^\p{C}\p{Z}][^\p{C}]{0,199}$/u.test(text);

/** An invalid body `user` is ignored instead of refused, since it is meant for the provider. */
const usable = (name: string | undefined): string | undefined =>
  name !== undefined && isName(name) ? name : undefined;

const wrongName = (what: string): Refused => ({
  status: 400,
  code: `invalid_${what}`,
  message: `x-whetstone-${what}: expected a name of 1 to 200 characters without control characters.`,
});
const narrowed = (what: string): Refused => ({
  status: 403,
  code: "narrowed_key",
  message: `This key is for one ${what}, and the request names another. Name the key's ${what}, or use another key.`,
});
