/** Servers of the Tinker API as processes, each as its makers publish it, on one model. */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { openSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { promisify, stripVTControlCharacters } from "node:util";
import type { Reduction } from "../../src/engine/tinker/datum.ts";

export const peerNames = ["whetstone", "skyrl", "tuft", "open-rl"] as const;
export type PeerName = (typeof peerNames)[number];

/** A server that runs. */
export interface Peer {
  readonly name: PeerName;
  readonly url: string;
  /** The model, as the server names it. */
  readonly baseModel: string;
  readonly reduction: Reduction;
  /** The end of what it wrote, for people. */
  log(): Promise<string>;
  stop(): Promise<void>;
}

export interface PeerOptions {
  /** The model's folder. */
  readonly base: string;
  /** Folder of the environments that peers/tinker-servers.sh made. */
  readonly venvs: string;
  /** For what a server writes, and its log. */
  readonly folder: string;
  /** Longest wait for the first answer. */
  readonly seconds: number;
  /** Of one that runs already, on that model; it is left running. */
  readonly url?: string | undefined;
}

export const key = "tml-bench";

interface Command {
  readonly line: readonly [string, ...string[]];
  readonly env?: Readonly<Record<string, string>>;
  readonly baseModel: string;
  readonly reduction: Reduction;
}

type Make = (options: PeerOptions, port: number) => Promise<Command> | Command;

/** Settings of its own that leave JAX few shapes to compile: rows are read one by one, and samples drawn by so many. */
const skyrlBackend = {
  max_lora_adapters: 8,
  max_lora_rank: 8,
  train_micro_batch_size: 1,
  sample_max_num_sequences: 32,
};

const commands: Readonly<Record<PeerName, Make>> = {
  whetstone: ({ base, folder }, port) => ({
    line: [
      process.execPath,
      join(import.meta.dirname, "../../src/cli/main.ts"),
      "serve",
      "--tinker",
      ...["--model", base, "--port", `${port}`, "--checkpoints", join(folder, "checkpoints")],
    ],
    baseModel: base.split("/").at(-1) ?? base,
    reduction: "sum",
  }),
  // it asks for `uv run`, whose arguments it reads again to start its engine
  skyrl: ({ base, venvs, folder }, port) => {
    const venv = join(venvs, "skyrl");
    return {
      line: [
        join(venv, "bin/uv"),
        ...["run", "--no-project", "--active", "-m", "skyrl.tinker.api", "--backend", "jax"],
        ...["--base-model", base, "--backend-config", JSON.stringify(skyrlBackend)],
        ...["--host", "127.0.0.1", "--port", `${port}`],
        ...["--database-url", `sqlite:///${join(folder, "tinker.db")}`],
        ...["--checkpoints-base", join(folder, "checkpoints")],
      ],
      env: {
        VIRTUAL_ENV: venv,
        PATH: `${join(venv, "bin")}:${process.env.PATH}`,
        JAX_PLATFORMS: "cpu",
        // what was compiled once is there for the next start
        JAX_COMPILATION_CACHE_DIR: join(venvs, "compiled"),
        JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS: "0",
        JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES: "0",
      },
      baseModel: base,
      reduction: "sequence-mean",
    };
  },
  // its own source, on a CPU: peers/tuft_on_cpu says by what. Alpha is 4 times the rank, which makes it 32 as elsewhere
  async tuft({ base, venvs, folder }, port) {
    const venv = join(venvs, "tuft");
    const config = join(folder, "tuft.yaml");
    const model = join(folder, "qwen2");
    const code = join(venvs, "tuft-on-cpu");
    const env = { PYTHONPATH: code, PATH: `${join(venv, "bin")}:${process.env.PATH}` };
    await ran(join(venv, "bin/python"), ["-m", "tuft_on_cpu.as_qwen2", base, model], env);
    const lines = [
      "supported_models:",
      "- model_name: base",
      `  model_path: ${model}`,
      "  max_model_len: 128",
      "  max_lora_rank: 8",
      "  max_loras: 8",
      "  lora_alpha_ratio: 4",
      "  colocate: true",
      "  sampling_memory_fraction: 0.1",
      "authorized_users:",
      `  ${key}: bench`,
    ];
    await writeFile(config, `${lines.join("\n")}\n`);
    return {
      line: [join(venv, "bin/tuft"), "launch", "--config", config, "--port", `${port}`],
      env: {
        ...env,
        TUFT_HOME: folder,
        // a GPU that Ray believes in: the trainer and the sampler each ask for a part of one
        RAY_OVERRIDE_RESOURCES: JSON.stringify({ CPU: 2, GPU: 1 }),
        // Ray gives its own processes seconds, which a busy machine may not have
        RAY_raylet_start_wait_time_s: "600",
        RAY_agent_register_timeout_ms: "600000",
        RAY_worker_register_timeout_seconds: "600",
        RAY_health_check_initial_delay_ms: "600000",
        RAY_health_check_timeout_ms: "600000",
        RAY_USAGE_STATS_ENABLED: "0",
        VLLM_CPU_KVCACHE_SPACE: "1",
        VLLM_NO_USAGE_STATS: "1",
        OMP_NUM_THREADS: "1",
      },
      baseModel: "base",
      reduction: "sum",
    };
  },
  // its smallest form: trainer and sampler in one process, in PyTorch
  "open-rl": ({ base, venvs, folder }, port) => {
    const python = join(venvs, "open-rl/bin/python");
    const server = join(venvs, "open-rl-source/src/server");
    return {
      line: [python, "-m", "uvicorn", "gateway:app", "--app-dir", server, "--port", `${port}`],
      env: { BASE_MODEL: base, SAMPLING_BACKEND: "torch", OPEN_RL_TMP_DIR: join(folder, "adapters") },
      baseModel: base,
      reduction: "sum",
    };
  },
};

/** @throws Error with what the program said. */
async function ran(program: string, args: readonly string[], env: Command["env"]): Promise<void> {
  await promisify(execFile)(program, args, { env: { ...process.env, ...env } });
}

/** @throws Error with the end of its log, where it does not answer in time. */
export async function startPeer(name: PeerName, options: PeerOptions): Promise<Peer> {
  await mkdir(options.folder, { recursive: true });
  const port = await freePort();
  const { line, env, baseModel, reduction } = await commands[name](options, port);
  if (options.url !== undefined) {
    await answers(options.url, options.seconds);
    const elsewhere = { log: async () => "(it was started by hand)", stop: async () => {} };
    return { name, url: options.url, baseModel, reduction, ...elsewhere };
  }
  const log = join(options.folder, "server.log");
  const out = openSync(log, "w");
  const [program, ...args] = line;
  const child = spawn(program, args, {
    env: { ...process.env, HF_HUB_OFFLINE: "1", ...env },
    stdio: ["ignore", out, out],
    detached: true,
  });
  running.add(child);
  const url = `http://127.0.0.1:${port}`;
  const fell = new Promise<never>((_, reject) => {
    child.once("error", reject);
    child.once("exit", (code) => reject(new Error(`${name} ended with ${code}`)));
  });
  const peer: Peer = { name, url, baseModel, reduction, log: () => endOf(log), stop: () => stopAll(child) };
  try {
    await Promise.race([answers(url, options.seconds), fell]);
    fell.catch(() => undefined);
    return peer;
  } catch (e) {
    await peer.stop();
    throw new Error(`${e instanceof Error ? e.message : e}\n${await endOf(log)}`);
  }
}

async function answers(url: string, seconds: number): Promise<void> {
  for (const until = Date.now() + 1000 * seconds; ; await pause(500)) {
    const answer = await fetch(`${url}/api/v1/healthz`, { headers: { "x-api-key": key } }).catch(
      () => undefined,
    );
    if (answer?.ok) return;
    if (Date.now() > until) throw new Error(`no answer within ${seconds} seconds`);
  }
}

const endOf = async (log: string): Promise<string> =>
  stripVTControlCharacters(await readFile(log, "utf8"))
    .trim()
    .slice(-600);

const running = new Set<ChildProcess>();

/** Whatever was started and runs. */
export async function stopPeers(): Promise<void> {
  await Promise.all([...running].map(stopAll));
}

/** The process and those that it started. */
async function stopAll(child: ChildProcess): Promise<void> {
  running.delete(child);
  const { pid } = child;
  if (pid === undefined) return;
  const ended = new Promise<void>((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) resolve();
    else child.once("exit", () => resolve());
  });
  const send = (signal: NodeJS.Signals): void => {
    try {
      process.kill(-pid, signal);
    } catch {
      // all of them have ended
    }
  };
  send("SIGTERM");
  await Promise.race([ended, pause(10_000)]);
  send("SIGKILL");
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const at = server.address();
  await new Promise<void>((resolve) => server.close(() => resolve()));
  return typeof at === "object" && at ? at.port : 0;
}
