/** Names under which this machine alone can be asked. */

const loopback: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "::1", "[::1]"]);

export const isLoopback = (host: string): boolean => loopback.has(host.toLowerCase());

/**
 * Whether a request's `Host` names this machine: a page may have a name of its own lead here, and then sends that name along.
 * @param more names that are this machine's too.
 */
export function isOwnName(host: string, more: readonly string[]): boolean {
  const name = host.replace(/:\d{1,5}$/, "").toLowerCase();
  return isLoopback(name) || more.includes(name);
}
