/** Whole runs of `whetstone train`, as processes. */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { z } from "zod";
import type { Curve } from "./found.ts";
import { key, type Peer } from "./peers.ts";

const iteration = z.object({
  type: z.literal("iteration"),
  /** Null where nothing was attempted. */
  reward: z.number().nullable(),
  metrics: z.record(z.string(), z.number()),
});

export interface RunOptions {
  readonly env: string;
  readonly method: Curve["method"];
  readonly seed: number;
  readonly iterations: number;
  /** The model's folder, with its tokenizer. */
  readonly base: string;
  /** An empty place for the run. */
  readonly out: string;
  readonly rank: number;
}

/** @param peer the server that trains and samples; absent: this machine's own engine. */
export async function runOf(peer: Peer | undefined, options: RunOptions): Promise<Curve> {
  const { env, method, seed, iterations, base, out, rank } = options;
  const began = performance.now();
  const values: number[] = [];
  const engine = peer
    ? ["--engine", "tinker", "--url", peer.url, "--base-model", peer.baseModel, "--tokenizer", base].concat([
        "--reduction",
        peer.reduction,
      ])
    : ["--model", base];
  const flags = {
    env,
    method,
    seed,
    iterations,
    lora: rank,
    "learning-rate": 0.01,
    out,
    store: join(out, "run.sqlite"),
  };
  const given = Object.entries(flags).flatMap(([flag, value]) => [`--${flag}`, `${value}`]);
  const cli = join(import.meta.dirname, "../../src/cli/main.ts");
  const child = spawn(process.execPath, [cli, "train", "--json", ...given, ...engine], {
    env: { ...process.env, TINKER_API_KEY: key },
  });
  let complaints = "";
  child.stderr.on("data", (text) => {
    complaints += text;
  });
  createInterface({ input: child.stdout }).on("line", (line) => {
    const read = iteration.safeParse(JSON.parse(line));
    if (read.success) {
      const { reward, metrics } = read.data;
      values.push((method === "grpo" ? reward : metrics["likelihood.nll"]) ?? Number.NaN);
    }
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  if (code !== 0) throw new Error(`whetstone train ended with ${code}: ${complaints.trim().slice(-1200)}`);
  if (values.length !== iterations) throw new Error(`${values.length} of ${iterations} iterations were told`);
  return { method, seed, values, seconds: (performance.now() - began) / 1000 };
}
