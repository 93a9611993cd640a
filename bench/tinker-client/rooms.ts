/** Where a process spends its processor time, by samples of what it is doing. */
import { Session } from "node:inspector/promises";
import { relative } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));
const microseconds = 200;

/**
 * @param rooms folders of the repository.
 * @returns of each the share of all samples that were not idle. What the engine does for a function, as writing JSON, counts
 * as that function's.
 */
export async function sharesDuring(rooms: readonly string[], work: () => Promise<void>): Promise<number[]> {
  const session = new Session();
  session.connect();
  await session.post("Profiler.enable");
  await session.post("Profiler.setSamplingInterval", { interval: microseconds });
  await session.post("Profiler.start");
  await work();
  const { profile } = await session.post("Profiler.stop");
  session.disconnect();

  const nodes = new Map(profile.nodes.map((node) => [node.id, node]));
  const callers = new Map(profile.nodes.flatMap(({ id, children = [] }) => children.map((c) => [c, id])));
  const fileOf = (id: number | undefined): string => {
    const node = id === undefined ? undefined : nodes.get(id);
    if (!node) return "";
    const { url } = node.callFrame;
    if (url === "") return fileOf(callers.get(node.id));
    return url.startsWith("file:") ? relative(root, fileURLToPath(url)) : url;
  };
  const busy = (profile.samples ?? []).filter((id) => nodes.get(id)?.callFrame.functionName !== "(idle)");
  return rooms.map((room) => busy.filter((id) => fileOf(id).startsWith(`${room}/`)).length / busy.length);
}
