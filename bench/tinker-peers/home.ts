/** Weights that were trained on a server, taken home and read by this machine's own engine. */
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Engine } from "../../src/engine/engine.ts";
import { exportAdapter, exportWeights } from "../../src/engine/local/export.ts";
import { localEngine } from "../../src/engine/local/index.ts";
import type { HeldWeights } from "../../src/engine/tinker/archive.ts";
import { downloadWeights } from "../../src/engine/tinker/download.ts";
import { distance } from "../../src/engine/tinker/samplerSync.ts";
import { batchOf, nll } from "../imitation.ts";
import type { Home } from "./found.ts";
import { key, type Peer } from "./peers.ts";
import { long } from "./scale.ts";

const steps = 5;
const request = { id: "policy", seed: 7, vocabulary: [], contextTokens: 64 } as const;

/**
 * Trains an adapter on a server, downloads it as `whetstone export` does, and compares what both say of the same row.
 * @param base the folder of the base model. @param folder for what comes of it.
 */
export async function homeOf(engine: Engine, { url }: Peer, base: string, folder: string): Promise<Home> {
  async function made(name: string): Promise<string> {
    const at = join(folder, name);
    await mkdir(at, { recursive: true });
    return at;
  }
  const batch = batchOf([long]);
  const model = await engine.create(request);
  const before = (await model.score(batch)).logp;
  for (let i = 0; i < steps; i++) {
    await model.accumulate(batch, nll, 1);
    await model.step({ learningRate: 0.01 });
  }
  const there = (await model.score(batch)).logp;
  const [saved, files, adapter, merged] = [
    await made("saved"),
    await made("files"),
    await made("adapter"),
    await made("merged"),
  ];
  await model.save(saved);
  const held: HeldWeights = JSON.parse(await readFile(join(saved, "tinker.json"), "utf8"));
  const came = await downloadWeights({ url, key, patienceSeconds: 60 }, held, files);
  const from = came.kind === "checkpoint" ? came.folder : { adapter: came.folder, base };
  await exportAdapter(from, adapter, base);
  await exportWeights(from, merged);
  const { lora_alpha } = JSON.parse(await readFile(join(adapter, "adapter_config.json"), "utf8"));
  const local = localEngine({ from: merged });
  try {
    const here = (await (await local.create(request)).score(batch)).logp;
    return {
      kind: came.kind,
      alpha: lora_alpha,
      moved: distance(there, before),
      apart: distance(there, here),
    };
  } finally {
    await local.dispose();
    await model.dispose();
  }
}
