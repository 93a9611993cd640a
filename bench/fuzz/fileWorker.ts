/** The thread in which files are read: one that never ends, or fills the memory, costs no more than itself. */
import { mkdirSync, rmSync } from "node:fs";
import { parentPort } from "node:worker_threads";
import { isWhetstoneError, messageOf } from "../../src/core/errors.ts";
import { randomStream } from "../../src/core/random.ts";
import { fileKinds } from "./fileKinds.ts";

export interface FileJob {
  readonly kind: string;
  readonly folder: string;
  readonly seed: number;
  readonly n: number;
}
/** `foreseen`: one of our errors, on one line. */
export type FileOutcome =
  | { readonly how: "read" | "refused" }
  | { readonly how: "unforeseen"; readonly message: string };

const port = parentPort!;

async function outcomeOf({ kind, folder, seed, n }: FileJob): Promise<FileOutcome> {
  const { make, read } = fileKinds[kind]!;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  await make(folder, randomStream(seed).split(kind, n));
  try {
    await read(folder);
    return { how: "read" };
  } catch (e) {
    const message = messageOf(e);
    if (isWhetstoneError(e) && !message.includes("\n")) return { how: "refused" };
    return {
      how: "unforeseen",
      message: `${message} ${e instanceof Error ? (e.stack ?? "").split("\n")[1] : ""}`,
    };
  }
}

port.on("message", async (job: FileJob) => port.postMessage(await outcomeOf(job)));
port.postMessage("ready");
