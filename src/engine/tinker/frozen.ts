/** Frozen weights on a server behind the `Frozen` contract. */
import type { TokenRows } from "../../core/batch.ts";
import type { Frozen } from "../../core/model.ts";
import type { Outputs, Wanted } from "../../core/outputs.ts";
import { atTargets, scoringData } from "./datum.ts";
import { type Sampler, spread } from "./sampler.ts";
import { begin, forget, openSamplers, type Saved, type TinkerParts, writeSaved } from "./savedModel.ts";
import type { Trainer } from "./trainer.ts";
import { isForgotten } from "./transport.ts";
import { requireOutputs, without } from "./unsupported.ts";

/**
 * @param saved the data that opens the weights again.
 * @param own a model that holds them permanently. Undefined: they are a snapshot of a model that keeps training.
 */
export function frozenModel(
  sampler: Sampler,
  saved: Promise<Saved>,
  version: string,
  parts: TinkerParts,
  own?: Trainer,
): Frozen {
  let current = Promise.resolve(sampler);
  let holder = Promise.resolve(own);
  /** Whether a folder refers to these weights. */
  let written = false;
  /** A server keeps few snapshots of a model and drops the oldest, but these weights may be needed for a whole run. */
  async function reopened(): Promise<Sampler> {
    const trainer = saved.then((path) => begin(parts, path, false));
    holder = trainer;
    return spread(await openSamplers(await trainer, parts));
  }
  async function over<T>(work: (sampler: Sampler) => Promise<T>): Promise<T> {
    const asked = current;
    try {
      return await work(await asked);
    } catch (e) {
      if (!isForgotten(e)) throw e;
      // the first caller that finds it missing opens it for all
      if (current === asked) current = reopened();
      return await work(await current);
    }
  }
  return {
    version,
    codec: parts.codec,
    sample: (requests) => over((one) => one.sample(requests, version)),
    async score(rows: TokenRows, want: Wanted = {}): Promise<Outputs> {
      requireOutputs(want, new Set());
      const sampled = await over((one) => one.score(rows));
      if (sampled) return { logp: sampled, heads: {} };
      // the server's samplers tell nothing of prompts: a model of their own reads these weights
      const reader = holder.then(async (trainer) => trainer ?? (await begin(parts, await saved, false)));
      holder = reader;
      const read = await (await reader).pass(scoringData(rows), "cross_entropy", true);
      return { logp: atTargets(rows, read), heads: {} };
    },
    async blend() {
      throw without("freeze with blending", "a request to blend weights");
    },
    async save(folder) {
      written = true;
      await writeSaved(folder, await saved);
    },
    async dispose() {
      await (await holder.catch(() => undefined))?.unload();
      const kept = written ? undefined : await saved.catch(() => undefined);
      if (kept) await forget(parts, kept);
    },
  };
}
