/** A store is named by a file or by a connection URL. */
export const isPostgresUrl = (where: string): boolean => /^\s*postgres(ql)?:/i.test(where);

/**
 * The URL as it may be shown. Passwords stand in several places of it, also where a sign of theirs that
 * should have been encoded ends the part in which they were meant to be.
 */
export function shownUrl(url: string): string {
  try {
    const shown = new URL(url);
    if (`${shown.pathname}${shown.search}`.includes("@") || url.includes("#")) return "postgres://…";
    shown.password = "";
    for (const name of [...shown.searchParams.keys()])
      if (/pass|secret|token/i.test(name)) shown.searchParams.delete(name);
    return shown.href;
  } catch {
    return "postgres://…";
  }
}
