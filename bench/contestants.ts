/** Those that are measured: long-lived child processes, each with its own runtime and memory. */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Request } from "./lines.ts";

export interface Contestant {
  readonly name: string;
  /** One request, one answer. Requests wait for the one before. */
  ask<T = Record<string, never>>(request: Request): Promise<T>;
  close(): void;
}

export interface Surroundings {
  /** Threads that each side may use. */
  readonly threads: number;
  /** Shows what the children print on standard error. */
  readonly verbose: boolean;
}

const running = new Set<{ kill(signal: NodeJS.Signals): boolean }>();

/** Ends every child at once. */
export function killAll(): void {
  for (const child of running) child.kill("SIGKILL");
}

const peersFolder = join(import.meta.dirname, "peers");

/** The Python of the peers' own environment. @throws when there is none, with the fix. */
function python(): string {
  const named = process.env.WHETSTONE_PEERS_PYTHON;
  const inside = process.platform === "win32" ? "Scripts/python.exe" : "bin/python";
  const path = named ?? join(peersFolder, ".venv", inside);
  if (existsSync(path)) return path;
  throw new Error(
    named === undefined
      ? "the peers have no Python environment yet: run bench/peers/setup.sh, or name a Python that has " +
          "bench/peers/requirements.txt in WHETSTONE_PEERS_PYTHON"
      : `WHETSTONE_PEERS_PYTHON names ${named}, which does not exist: name a Python that has ` +
          "bench/peers/requirements.txt, or run bench/peers/setup.sh and leave the variable out",
  );
}

function start(
  name: string,
  command: string,
  args: readonly string[],
  { threads, verbose }: Surroundings,
): Contestant {
  const count = String(threads);
  const child = spawn(command, args, {
    stdio: ["pipe", "pipe", "pipe"],
    env: {
      ...process.env,
      OMP_NUM_THREADS: count,
      MKL_NUM_THREADS: count,
      // compiling in one process leaves no helpers behind
      TORCHINDUCTOR_COMPILE_THREADS: "1",
      TOKENIZERS_PARALLELISM: "false",
      HF_HUB_OFFLINE: "1",
      HF_HUB_DISABLE_TELEMETRY: "1",
    },
  });
  running.add(child);
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
    said = (said + chunk).slice(-4000);
    if (verbose) process.stderr.write(chunk);
  });
  let waiting: { resolve(answer: unknown): void; reject(e: Error): void } | undefined;
  let failed: Error | undefined;
  const fail = (e: Error): void => {
    failed ??= e;
    waiting?.reject(failed);
    waiting = undefined;
  };
  child.on("error", (e) => fail(new Error(`${name} did not start: ${e.message}`)));
  child.on("close", (code, signal) => {
    running.delete(child);
    fail(new Error(`${name} ended (${signal ?? `exit code ${code}`})${said ? `:\n${said.trimEnd()}` : ""}`));
  });
  child.stdin.on("error", () => undefined); // a child that ends is reported once, by its exit
  createInterface({ input: child.stdout }).on("line", (line) => {
    const answered = waiting;
    waiting = undefined;
    try {
      const answer = JSON.parse(line) as { readonly error?: string };
      if (answer.error === undefined) answered?.resolve(answer);
      else answered?.reject(new Error(`${name}: ${answer.error}`));
    } catch {
      answered?.reject(new Error(`${name} answered something that is no JSON: ${line.slice(0, 200)}`));
    }
  });
  let turn: Promise<unknown> = Promise.resolve();
  return {
    name,
    ask<T>(request: Request): Promise<T> {
      const asked = turn.then(
        () =>
          new Promise<T>((resolve, reject) => {
            if (failed) return reject(failed);
            waiting = { resolve: (answer) => resolve(answer as T), reject };
            child.stdin.write(`${JSON.stringify(request)}\n`);
          }),
      );
      turn = asked.catch(() => undefined);
      return asked;
    },
    close() {
      running.delete(child);
      child.kill("SIGKILL");
    },
  };
}

/** Whetstone, in a Node of its own. */
export const ours = (around: Surroundings): Contestant =>
  start(
    "whetstone",
    process.execPath,
    [join(import.meta.dirname, "ours.ts"), "--threads", String(around.threads)],
    around,
  );

/** A script under bench/peers. */
export const pythonPeer = (
  name: string,
  script: string,
  around: Surroundings,
  args: readonly string[] = [],
): Contestant =>
  start(
    name,
    python(),
    ["-u", join(peersFolder, script), "--threads", String(around.threads), ...args],
    around,
  );

/** vLLM, in a Python of its own: it wants other versions of what the peers share. */
export const vllmPeer = (python: string, around: Surroundings): Contestant =>
  start(
    "vLLM",
    python,
    ["-u", join(peersFolder, "vllm_score.py"), "--threads", String(around.threads)],
    around,
  );

/** llama.cpp by way of node-llama-cpp, installed under bench/peers. */
export function llamaPeer(around: Surroundings): Contestant {
  if (!existsSync(join(peersFolder, "node_modules", "node-llama-cpp"))) {
    throw new Error(
      "node-llama-cpp is not installed: run `npm install --ignore-scripts --prefix bench/peers`, " +
        "or leave the peer llama.cpp out with --peers",
    );
  }
  return start(
    "llama.cpp",
    process.execPath,
    [join(peersFolder, "llama.mjs"), "--threads", String(around.threads)],
    around,
  );
}
