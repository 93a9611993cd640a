/** Who asks, and in which session: by headers, or by the base URL alone. */
import type { Context } from "hono";
import type { Only } from "../keys.ts";
import type { Refused } from "../refusal.ts";
import { nameIn } from "./headers.ts";

/** As far as a request says. */
export interface Identity {
  readonly session?: string;
  readonly user?: string;
  /** The user is the body's own, which is said to the provider. */
  readonly isFromBody?: true;
}

/**
 * The headers `x-whetstone-session` and `x-whetstone-user`, else what stands in the path, else, for the user, the body's own
 * `user`. Names may be percent-encoded in headers, as they are in paths. A key that is narrowed to a session or a user speaks for it.
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
  // what is said next is another response
  if (only?.response !== undefined) return narrowed("response");
  if (only?.session !== undefined && session !== only.session) return narrowed("session");
  if (only?.user !== undefined && user !== only.user) return narrowed("user");
  return {
    ...(session === undefined ? {} : { session }),
    ...(user === undefined ? {} : { user }),
    ...(named === undefined && user !== undefined ? { isFromBody: true } : {}),
  };
}

/** Up to 200 characters, none of which steers anything. */
const isName = (text: string): boolean => /^[^\p{C}\p{Z}][^\p{C}]{0,199}$/u.test(text);

/** What somebody says to their provider is no reason to refuse their call. */
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
  message: `This key is for one ${what}, and the request is of another. Use its own, or another key.`,
});
