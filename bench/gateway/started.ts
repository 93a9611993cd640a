/** Processes of the gateway's benches: started, asked, ended. */
import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";

export interface Started {
  readonly url: string;
  /** What it has used. */
  usage(): Promise<Usage>;
  stop(): Promise<void>;
  /** Ends it as a power cut would. */
  kill(): Promise<void>;
}

export interface Usage {
  readonly cpuMs: number;
  readonly rss: number;
  readonly heapUsed: number;
  readonly external: number;
  readonly lost: number;
  readonly recorded: number;
  readonly pending: number;
  readonly calls: number;
}

/** @param core pins it to one core where `taskset` is there. */
export async function started(
  script: string,
  args: readonly string[],
  { core, flags = [] }: { readonly core?: number; readonly flags?: readonly string[] } = {},
): Promise<Started> {
  const command = [process.execPath, ...flags, `${import.meta.dirname}/${script}.ts`, ...args];
  const pinned =
    core === undefined || process.platform !== "linux" ? command : ["taskset", "-c", `${core}`, ...command];
  const child: ChildProcess = spawn(pinned[0]!, pinned.slice(1), { stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout! })[Symbol.asyncIterator]();
  const line = async (): Promise<string> => {
    const { value, done } = await lines.next();
    if (done) throw new Error(`${script} ended with ${child.exitCode}`);
    return value;
  };
  const url = await line();
  return {
    url,
    async usage() {
      child.stdin!.write("\n");
      return JSON.parse(await line());
    },
    async stop() {
      const ended = new Promise((resolve) => child.once("exit", resolve));
      child.stdin!.end();
      await ended;
    },
    async kill() {
      const ended = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGKILL");
      await ended;
    },
  };
}
