/** The way to the login page, and back to where one was. */

/** As `location` says it. */
interface Place {
  readonly pathname: string;
  readonly search: string;
  readonly hash: string;
}

export const loginPath = ({ pathname, search, hash }: Place): string =>
  `/login?${new URLSearchParams({ to: pathname + search + hash })}`;

/** @returns a place of this very origin: an address that somebody sent leads nowhere else. */
export function backFrom(search: string, origin: string): string {
  const to = new URLSearchParams(search).get("to") ?? "/";
  const url = URL.canParse(to, origin) ? new URL(to, origin) : undefined;
  // a path that begins with two slashes is an address of another server
  if (url?.origin !== origin || url.pathname === "/login" || url.pathname.startsWith("//")) return "/";
  return url.pathname + url.search + url.hash;
}
