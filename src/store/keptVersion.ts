/** Versions that several may add at once: replicas that begin together, programs that send the same. */
import { isWhetstoneError } from "../core/errors.ts";
import type { Version } from "../core/served.ts";
import type { Production } from "./production.ts";

/** Adds it, unless the store has one of its id. @returns the one that the store has, and whether it was added now. */
export async function keptVersion(
  production: Pick<Production, "versions" | "addVersion">,
  version: Version,
): Promise<{ readonly version: Version; readonly added: boolean }> {
  const known = async (): Promise<Version | undefined> =>
    (await production.versions()).find(({ id }) => id === version.id);
  const before = await known();
  if (before) return { version: before, added: false };
  try {
    await production.addVersion(version);
    return { version, added: true };
  } catch (e) {
    // somebody else was first
    const first = isWhetstoneError(e) && e.code === "store.refused" ? await known() : undefined;
    if (!first) throw e;
    return { version: first, added: false };
  }
}
