/**
 * Other people's servers of the Tinker API, as they are published, and ours: what a step is worth on each, and whole runs
 * of GRPO and SFT by `whetstone train`.
 *
 *     sh bench/peers/tinker-servers.sh FOLDER
 *     node bench/tinker-peers.ts --venvs FOLDER [--servers whetstone,skyrl,tuft,open-rl] [--iterations 15] [--seeds 2]
 *
 * The model is a tiny one that a short run of SFT made here and `whetstone export` wrote. Writes
 * bench/results/tinker-peers.json and, as a page, .md, with the reason where a server could not be run. A server that is not
 * named keeps what was found of it before. `--base FOLDER` is a model that is there already, and `--running NAME=URL` a
 * server that serves it already, started by hand.
 */
import { spawnSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { messageOf } from "../src/core/errors.ts";
import { localEngine } from "../src/engine/local/index.ts";
import { readCodec } from "../src/engine/local/readCodec.ts";
import { tinkerEngine } from "../src/engine/tinker/index.ts";
import { type Curve, type Found, keepFound } from "./tinker-peers/found.ts";
import { homeOf } from "./tinker-peers/home.ts";
import { pageOf } from "./tinker-peers/page.ts";
import { key, type Peer, type PeerName, peerNames, startPeer, stopPeers } from "./tinker-peers/peers.ts";
import { runOf } from "./tinker-peers/runs.ts";
import { rank, rawScaleOf, scaleOf } from "./tinker-peers/scale.ts";

const { values } = parseArgs({
  options: {
    venvs: { type: "string", default: "" },
    servers: { type: "string", default: peerNames.join(",") },
    iterations: { type: "string", default: "15" },
    seeds: { type: "string", default: "2" },
    env: { type: "string", default: "codewords" },
    wait: { type: "string", default: "1200" },
    base: { type: "string" },
    running: { type: "string", multiple: true, default: [] },
    out: { type: "string", default: join(import.meta.dirname, "results", "tinker-peers") },
  },
});
const iterations = Number(values.iterations);
const seeds = Array.from({ length: Number(values.seeds) }, (_, i) => i + 1);
const chosen = peerNames.filter((name) => values.servers.split(",").includes(name));
const day = new Date().toISOString().slice(0, 10);
const say = (line: string): void => console.error(`${new Date().toISOString().slice(11, 19)} ${line}`);

const folder = await mkdtemp(join(tmpdir(), "tinker-peers-"));
const base = values.base ?? join(folder, "base");
const running = new Map(
  values.running.map((one) => [one.slice(0, one.indexOf("=")), one.slice(one.indexOf("=") + 1)]),
);

function whetstone(...args: readonly string[]): void {
  const cli = join(import.meta.dirname, "../src/cli/main.ts");
  const { status, stderr } = spawnSync(process.execPath, [cli, ...args], { encoding: "utf8" });
  if (status !== 0) throw new Error(`whetstone ${args[0]}: ${stderr.slice(-1000)}`);
}

async function curves(name: string, peer?: Peer): Promise<Curve[]> {
  const found: Curve[] = [];
  for (const method of ["grpo", "sft"] as const) {
    for (const seed of seeds) {
      say(`${name}: ${method}, seed ${seed}`);
      const out = join(folder, `${name}-${method}-${seed}`);
      found.push(await runOf(peer, { env: values.env, method, seed, iterations, base, out, rank }));
    }
  }
  return found;
}

/** What runs; the first thing that does not is the reason why the rest is missing. */
async function attempt<T>(
  found: Found,
  what: string,
  work: () => Promise<T>,
  peer?: Peer,
): Promise<T | undefined> {
  if (found.reason !== undefined) return undefined;
  say(`${found.name}: ${what}`);
  try {
    return await work();
  } catch (e) {
    const log = peer ? `\nIts log ends with:\n${await peer.log()}` : "";
    found.reason = `${what}: ${messageOf(e)}${log}`;
    say(`${found.name}: ${found.reason}`);
    return undefined;
  }
}

async function measured(name: PeerName): Promise<Found> {
  const found: Found = { name, day };
  const options = {
    base,
    venvs: values.venvs,
    folder: join(folder, name),
    seconds: Number(values.wait),
    url: running.get(name),
  };
  const peer = await attempt(found, "start", () => startPeer(name, options));
  if (!peer) return found;
  const { url, baseModel, reduction } = peer;
  const engine = tinkerEngine({
    url,
    baseModel,
    codec: await readCodec(base),
    key,
    rank,
    reduction,
    probe: false,
  });
  try {
    const raw = await attempt(found, "a step on cross_entropy", () => rawScaleOf(peer), peer);
    const equal = await attempt(found, "a step made equal", () => scaleOf(engine), peer);
    const runs = await attempt(found, "whole runs", () => curves(name, peer), peer);
    say(`${name}: the way home`);
    const home = await homeOf(engine, peer, base, options.folder)
      .then((home) => ({ home }))
      .catch((e: unknown) => ({ stays: messageOf(e) }));
    return { ...found, ...(raw && { raw }), ...(equal && { equal }), ...(runs && { runs }), ...home };
  } finally {
    await engine.dispose();
    await peer.stop();
  }
}

async function measuredHere(): Promise<Found> {
  const engine = localEngine({ from: base, lora: { rank, alpha: 32 } });
  try {
    return { name: "local", day, equal: await scaleOf(engine), runs: await curves("local") };
  } finally {
    await engine.dispose();
  }
}

// servers have processes of their own, which would outlive this one
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => void stopPeers().finally(() => process.exit(130)));
}

try {
  if (values.base === undefined) {
    const made = join(folder, "made");
    say("the model");
    whetstone("train", "--env", values.env, "--method", "sft", "--iterations", "25", "--out", made);
    whetstone("export", made, "--to", "safetensors", "--out", base);
  }
  for (const name of ["local", ...chosen] as const) {
    const found = name === "local" ? await measuredHere() : await measured(name);
    const all = await keepFound(`${values.out}.json`, values.env, found);
    await writeFile(`${values.out}.md`, pageOf(all, { env: values.env, rank }));
  }
  console.log(`${values.out}.md`);
} finally {
  await rm(folder, { recursive: true, force: true });
}
