/** Runs through whatever can go wrong between a client and a server, each compared with an undisturbed one. */
import { type ChildProcess, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Random } from "../../src/core/random.ts";
import { calm, type Network, openNetwork, type Weather } from "./network.ts";

const script = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

/** What goes wrong in a run. */
export const troubles = {
  network: "5 % of calls lost, unheard, doubled, delayed or cut",
  storms: "every second call refused with 429, 500, 502 or 503 for a while, again and again",
  server: "the server killed and started again",
  client: "the client killed and resumed",
  endless: "a result that is never ready",
  all: "5 % of calls bad, the server and the client killed",
  ahead: "rollouts ahead of learning, the server killed and then the client",
} as const;
export type Trouble = keyof typeof troubles;
export const troubleNames = Object.keys(troubles).filter((name): name is Trouble => name in troubles);

/** By how many iterations rollouts run ahead of learning. An undisturbed run of the same is what one is compared with. */
export const stalenessOf = (trouble: Trouble | "none"): number => (trouble === "ahead" ? 2 : 0);

/** What became of a run. */
export interface Outcome {
  readonly trouble: Trouble | "none";
  /** Digest of the last checkpoint: weights, optimiser's state and the number of steps. */
  readonly digest: string;
  /** From its first iteration on, in ms. */
  readonly pace: number;
  /** How often it was resumed, and what it had said each time before, if it had stopped by itself. */
  readonly resumed: number;
  readonly said: readonly string[];
  readonly kills: number;
  readonly faults: Readonly<Record<string, number>>;
  readonly seconds: number;
}

export interface Place {
  readonly folder: string;
  readonly iterations: number;
  /** How often servers or clients are killed in a run, where they are. */
  readonly kills: number;
  /** Of the clients' runs. Default: as the trouble has it. */
  readonly staleness?: number;
}

interface Server {
  readonly url: string;
  kill(): Promise<void>;
}

async function startServer(folder: string, port = 0): Promise<Server> {
  const child = spawn(process.execPath, [script("server.ts"), folder, String(port)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = await Promise.race([once(child.stdout, "data"), once(child, "exit")]);
  const url = String(line).trim();
  if (!url.startsWith("http")) throw new Error(`the server ended with ${url}`);
  return { url, kill: () => killed(child) };
}

async function killed(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, "exit");
  child.kill("SIGKILL");
  await exit;
}

/** Of each iteration of a client's run. */
const steps = 2;

/** More would be no bad luck any more. */
const mostResumed = 40;

/**
 * One run to its end, resumed as often as it takes.
 * @param pace how long the iterations of an undisturbed run take, in ms: kills fall into them.
 */
export async function runThrough(
  trouble: Trouble | "none",
  round: string,
  { folder, iterations, kills: most, staleness = stalenessOf(trouble) }: Place,
  random: Random,
  pace: number,
): Promise<Outcome> {
  const began = performance.now();
  const out = join(folder, `${trouble}-${round}`);
  mkdirSync(out, { recursive: true });
  let server = await startServer(folder);
  const network = await openNetwork(server.url, random.split("network", 0));
  const said: string[] = [];
  let [resumed, kills] = [-1, 0];
  const planned = ["server", "client", "all", "ahead"].includes(trouble) ? most : 0;

  /** Whether it is the server that is killed next, or else the client. */
  const serverIsNext = (): boolean => {
    if (trouble === "all") return random.next() < 0.5;
    return trouble === "server" || (trouble === "ahead" && kills % 2 === 0);
  };

  /** Starts the server again at its address. */
  async function restart(): Promise<void> {
    kills++;
    await server.kill();
    await pause(100 * random.next());
    server = await startServer(folder, Number(new URL(server.url).port));
  }
  const over = new AbortController();
  const weathers = changing(network, trouble, random.split("weather", 0), over.signal);
  if (trouble === "endless") network.endless = "optim_step";
  const spans: number[] = [];
  try {
    for (let code: number | null = 1; code !== 0; ) {
      if (++resumed > mostResumed)
        throw new Error(`the run was resumed ${mostResumed} times: ${said.at(-1)}`);
      const { child, closed, words, reached, begun } = startClient(
        network.url,
        folder,
        out,
        iterations,
        // in its own, faster seconds: as long as a server takes to start
        trouble === "endless" ? 3 : 2000,
        staleness,
      );
      if (kills < planned) {
        // somewhere in an iteration, or in what comes before the first; a resumed run may have little left
        const into = Math.floor(iterations * random.next());
        const done = resumed === 0 ? into : 0;
        // on a machine that is faster by now the time may never come: at the latest with the iteration's last step
        const last = network.came("optim_step", steps * (done + 1));
        await reached(1 + done);
        await Promise.race([pause((pace / iterations) * random.next()), last, closed]);
        if (serverIsNext()) await restart();
        else if (child.exitCode === null) {
          kills++;
          await killed(child);
        }
      }
      code = await closed;
      spans.push(performance.now() - begun());
      if (code === 1) said.push(words().trim().split("\n").at(-1) ?? "");
    }
    const digest = digestOf(folder, join(out, "run"));
    const seconds = (performance.now() - began) / 1000;
    const faults = network.faults;
    return { trouble, digest, pace: spans[0] ?? 0, resumed, said, kills, faults, seconds };
  } finally {
    over.abort();
    await weathers;
    await network.close();
    await server.kill();
  }
}

/** A run that begins, or goes on with where it stands. */
function startClient(
  url: string,
  folder: string,
  out: string,
  iterations: number,
  patience: number,
  staleness: number,
) {
  const args = [
    script("client.ts"),
    url,
    join(folder, "tiny"),
    join(out, "run"),
    `${iterations}`,
    `${patience}`,
    `${staleness}`,
  ];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"] });
  let [words, lines, begun] = ["", 0, performance.now()];
  child.stderr.on("data", (data) => {
    words += data;
  });
  const waiting: { readonly count: number; readonly go: () => void }[] = [];
  createInterface({ input: child.stdout }).on("line", () => {
    if (++lines === 1) begun = performance.now();
    for (const { count, go } of waiting) if (count <= lines) go();
  });
  const closed = once(child, "close").then(([code]): number | null => code);
  return {
    child,
    closed,
    words: () => words,
    begun: () => begun,
    /** Once it has printed so many lines, or has ended. */
    reached: (count: number) =>
      Promise.race([new Promise<void>((go) => waiting.push({ count, go })), closed]),
  };
}

/** Sets the network's weather as long as a run goes on. */
async function changing(
  network: Network,
  trouble: Trouble | "none",
  random: Random,
  over: AbortSignal,
): Promise<void> {
  const each = 0.05 / 5;
  const bad: Weather = { lost: each, unheard: each, doubled: each, delayed: each, cut: each };
  if (trouble === "network" || trouble === "all") network.weather = bad;
  while (trouble === "storms" && !over.aborted) {
    network.weather = network.weather === calm ? { refused: 0.5 } : calm;
    await pause(50 + 400 * random.next(), undefined, { signal: over }).catch(() => undefined);
  }
}

/** Of what the server keeps of a run's last weights. */
export function digestOf(folder: string, out: string): string {
  const { path } = JSON.parse(readFileSync(join(out, "final", "tinker.json"), "utf8"));
  const [, model = "", name = ""] = /^tinker:\/\/(.+)\/weights\/(.+)$/.exec(path) ?? [];
  const at = join(folder, "models", model.replaceAll(":", "_"), "weights", name);
  const hash = createHash("sha256");
  for (const file of readdirSync(at).sort()) {
    if (/\.safetensors$|^trainer\.json$/.test(file)) hash.update(file).update(readFileSync(join(at, file)));
  }
  return hash.digest("hex").slice(0, 16);
}
