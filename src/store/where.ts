/** A store is named by a file or by a connection URL. */
export const isPostgresUrl = (where: string): boolean => /^postgres(ql)?:\/\//.test(where);

/** The URL as it may be shown: without its password. */
export function shownUrl(url: string): string {
  try {
    const shown = new URL(url);
    shown.password = "";
    shown.searchParams.delete("password");
    return shown.href;
  } catch {
    return "postgres://…";
  }
}
