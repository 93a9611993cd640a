/** Makes the write calls of node:fs/promises fail, or counts them, as if the disk failed. */
import files, { type FileHandle } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";

const names = ["open", "mkdir", "rename", "rm", "writeFile", "appendFile", "truncate"] as const;
type Call = (path: string, ...rest: unknown[]) => Promise<unknown>;
const calls = files as unknown as Record<(typeof names)[number], Call>;

/**
 * Calls `before` ahead of every write until the returned function is called. If it throws, the write throws the same;
 * a write of contents has then written half of them.
 */
export function intercept(before: (call: string, path: string) => void): () => void {
  const real = Object.fromEntries(names.map((name) => [name, calls[name]])) as typeof calls;
  for (const name of ["mkdir", "rename", "rm", "truncate"] as const) {
    calls[name] = async (path, ...rest) => {
      before(name, path);
      return real[name](path, ...rest);
    };
  }
  const halved = async <T>(
    call: string,
    path: string,
    data: unknown,
    write: (d: unknown) => T,
  ): Promise<T> => {
    try {
      before(call, path);
    } catch (e) {
      if (typeof data === "string" || data instanceof Uint8Array) await write(data.slice(0, data.length / 2));
      throw e;
    }
    return write(data);
  };
  for (const name of ["writeFile", "appendFile"] as const) {
    calls[name] = (path, data, ...rest) => halved(name, path, data, (d) => real[name](path, d, ...rest));
  }
  calls.open = async (path, flags, ...rest) => {
    if (flags !== "r") before("open", path);
    const handle = (await real.open(path, flags, ...rest)) as FileHandle;
    const { writeFile, sync } = handle;
    return Object.assign(handle, {
      writeFile: (data: string | Uint8Array) =>
        halved("write", path, data, (d) => writeFile.call(handle, d as string)),
      sync: async () => {
        before("sync", path);
        return sync.call(handle);
      },
    });
  };
  syncBuiltinESMExports();
  return () => {
    Object.assign(calls, real);
    syncBuiltinESMExports();
  };
}

/** The error of a full disk. */
export const noSpace = (call: string): Error =>
  Object.assign(new Error(`ENOSPC: no space left on device, ${call}`), { code: "ENOSPC" });
