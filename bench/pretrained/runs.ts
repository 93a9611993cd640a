/** Runs of `whetstone train` on a published model, each in a process of its own: to their end, or killed. */
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync, watch } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

export const main = fileURLToPath(new URL("../../src/cli/main.ts", import.meta.url));
const config = fileURLToPath(new URL("config.ts", import.meta.url));

/** When a process is killed: so many milliseconds after an iteration, or after it began to write a checkpoint. */
export interface Kill {
  readonly at: "iteration" | "checkpoint";
  /** How many of these are let pass. */
  readonly after: number;
  readonly ms: number;
}

/** What a process said of an iteration. */
export interface Reported {
  readonly iteration: number;
  readonly tokensPerSecond: number;
  readonly success: number;
  readonly metrics: Readonly<Record<string, number>>;
}

export interface Ended {
  readonly code: number | null;
  readonly iterations: readonly Reported[];
  readonly seconds: number;
  /** Largest resident memory, MiB; 0 where the process could not say it. */
  readonly peak: number;
  readonly err: string;
}

/** A process says its largest resident memory when it ends. */
const sayPeak =
  "data:text/javascript,process.on('exit',()=>console.error('peak',process.resourceUsage().maxRSS))";

/** Runs a command of whetstone, and hands on each line of its output. */
export function whetstone(
  args: readonly string[],
  {
    cwd,
    onLine,
    onStart,
  }: {
    readonly cwd: string;
    readonly onLine?: (line: string) => void;
    readonly onStart?: (kill: () => void) => void;
  },
): Promise<Omit<Ended, "iterations">> {
  return new Promise((resolve) => {
    const began = performance.now();
    const child = spawn(process.execPath, ["--import", sayPeak, main, ...args], { cwd });
    onStart?.(() => child.kill("SIGKILL"));
    createInterface({ input: child.stdout }).on("line", (line) => onLine?.(line));
    let err = "";
    child.stderr.on("data", (chunk: Buffer) => (err += chunk.toString()));
    child.on("close", (code) => {
      const peak = Number(/^peak (\d+)$/m.exec(err)?.[1] ?? 0) / 1024;
      resolve({ code, seconds: (performance.now() - began) / 1000, peak, err });
    });
  });
}

/** Trains, and kills the process where that is asked for. @param folder whose folder `name` the run has. */
export async function train(
  folder: string,
  name: string,
  args: readonly string[],
  kill?: Kill,
): Promise<Ended> {
  const iterations: Reported[] = [];
  let [passed, end]: [number, () => void] = [0, () => undefined];
  const happens = (at: Kill["at"]): void => {
    if (at === kill?.at && ++passed > kill.after) setTimeout(end, kill.ms);
  };
  const watching =
    kill?.at === "checkpoint"
      ? watch(
          join(folder, name, "checkpoints"),
          (_, written) => written?.endsWith(".partial") && happens("checkpoint"),
        )
      : undefined;
  const ended = await whetstone(
    ["train", config, "--json", "--out", name, "--store", `${name}.sqlite`, ...args],
    {
      cwd: folder,
      onStart: (killed) => (end = killed),
      onLine: (line) => {
        const said = JSON.parse(line) as Reported & { readonly type: string };
        if (said.type !== "iteration") return;
        iterations.push(said);
        happens("iteration");
      },
    },
  );
  watching?.close();
  return { ...ended, iterations };
}

/** Of the weights that a run ended with. */
export const digestOf = (folder: string, name: string): string =>
  createHash("sha256")
    .update(readFileSync(join(folder, name, "final", "adapter_model.safetensors")))
    .digest("hex");
