/** Adds versions that several processes may add at once, such as replicas that start together. */
import { isWhetstoneError } from "../core/errors.ts";
import type { Version } from "../core/served.ts";
import type { TrafficStore } from "./trafficStore.ts";

/** Adds a version unless the store has one with its id. @returns the stored version, and whether it was added now. */
export async function keptVersion(
  production: Pick<TrafficStore, "versions" | "addVersion">,
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
    // another process was first
    const first = isWhetstoneError(e) && e.code === "store.refused" ? await known() : undefined;
    if (!first) throw e;
    return { version: first, added: false };
  }
}
