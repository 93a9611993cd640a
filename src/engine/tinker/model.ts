/** A model on a server behind the `Model` contract. */
import type { TokenRows } from "../../core/batch.ts";
import type { Capability, Model } from "../../core/model.ts";
import type { ModelId } from "../../core/types.ts";
import { oneByOne } from "../requests.ts";
import { frozenModel } from "./frozen.ts";
import { type Current, modelPasses } from "./passes.ts";
import type { Findings } from "./probe.ts";
import { type Sampler, spread } from "./sampler.ts";
import { noiseOf, requireFresh, type Witness, witnessOf } from "./samplerSync.ts";
import {
  type Begun,
  begin,
  forget,
  openSamplers,
  readSaved,
  type Saved,
  type TinkerParts,
  writeSaved,
} from "./savedModel.ts";
import { mostWords } from "./topKTargets.ts";
import type { Trainer } from "./trainer.ts";
import { without } from "./unsupported.ts";

export const tinkerCan: ReadonlySet<Capability> = new Set<Capability>([
  "tokens",
  "logp",
  "train",
  "freeze",
  "fork",
]);

/** Additional capabilities with a server that accepts several targets per token. */
export const emulated = (vocabulary: number): readonly Capability[] =>
  vocabulary <= mostWords ? ["at", "entropy", "topk"] : ["at"];

interface Snapshot {
  readonly sampler: Sampler;
  /** Rejects if the sampler does not have the current weights. */
  readonly proven: Promise<unknown>;
}

/** @param id the name in the run. */
export async function tinkerModel(
  id: ModelId,
  parts: TinkerParts,
  begun: Begun,
  optimiser = true,
): Promise<Model> {
  const { codec, baseModel } = parts;
  const { reduction, findings } = begun;
  const several = findings?.several === true && reduction === "sum";
  const can = new Set([...tinkerCan, ...(several ? emulated(codec.vocabulary) : [])]);
  let { seed, rank } = begun;
  const { version, contextTokens } = begun;
  const current: Current = { trainer: await begin(parts, begun, optimiser), version, contextTokens };
  const passes = modelPasses(id, current, { can, vocabulary: codec.vocabulary, reduction });
  const snapshot = snapshots({ parts, findings, forward: passes.forward });
  let sampling: (Snapshot & { readonly version: number }) | undefined;
  // calls that touch gradients or weights run in the order in which they are made
  const alone = oneByOne();

  /** Saves the weights on the server. @returns the data that opens them again. */
  async function keep(): Promise<Saved> {
    const path = await current.trainer.save(`whetstone-${parts.unique()}`);
    const { version, contextTokens } = current;
    const kept = { rank, seed, path, version, contextTokens, reduction };
    return { format: 1, baseModel, ...kept, ...(findings && { findings }) };
  }

  return {
    id,
    get version() {
      return String(current.version);
    },
    can,
    codec,
    contextTokens,
    parameters: null,
    async sample(requests) {
      const [first] = requests;
      if (!first) return [];
      const drawn = await alone(async () => {
        if (sampling?.version !== current.version) {
          const { version, trainer } = current;
          sampling = { version, ...(await snapshot(first.prompt, trainer)) };
        }
        return sampling;
      });
      const sampled = drawn.sampler.sample(requests, String(drawn.version));
      sampled.catch(() => undefined);
      await drawn.proven;
      return await sampled;
    },
    score: (rows, want = {}) => alone(() => passes.score(rows, want)),
    accumulate: (batch, objective, aux, into) =>
      alone(async () => {
        if (into !== undefined && into !== "main") throw without("gradients", `a gradient named "${into}"`);
        return await passes.accumulate(batch, objective, aux);
      }),
    step: (rule) => alone(() => passes.step(rule)),
    freeze: () =>
      alone(async () => {
        const prompt = codec.open([{ role: "user", content: "Which number comes after 41?" }]);
        // the weights are saved as well, since a run may save a frozen model; with reliable snapshots nothing waits for that
        const first = findings?.keeps === false ? await keep() : undefined;
        const own = first && (await begin(parts, first, false));
        const { sampler, proven } = await snapshot(prompt, own ?? current.trainer);
        const kept = first ? Promise.resolve(first) : keep();
        kept.catch(() => undefined);
        await proven;
        return frozenModel(sampler, kept, String(current.version), parts, own);
      }),
    fork: (optimiser, name = id) =>
      alone(async () => {
        const saved = await keep();
        const forked = await tinkerModel(name, parts, saved, optimiser === "copy");
        await forget(parts, saved);
        return forked;
      }),
    save: (folder) => alone(async () => writeSaved(folder, await keep())),
    load: (folder) =>
      alone(async () => {
        const saved = await readSaved(folder, parts);
        await current.trainer.unload();
        current.trainer = await begin(parts, saved, true);
        ({ version: current.version, contextTokens: current.contextTokens, seed, rank } = saved);
        sampling = undefined;
        passes.drop();
      }),
    dispose: () => current.trainer.unload(),
  };
}

interface SnapshotOptions {
  readonly parts: TinkerParts;
  readonly findings: Findings | undefined;
  readonly forward: (rows: TokenRows) => Promise<Float32Array>;
}

/** Makes snapshots of the current weights, each checked against the former one. */
function snapshots({ parts, findings, forward }: SnapshotOptions) {
  let witness: Witness | undefined;

  /**
   * Sampling sessions of the current weights, and a check that they have these weights, which takes a little longer.
   * @param from a model with these weights.
   */
  return async function snapshot(prompt: Int32Array, from: Trainer): Promise<Snapshot> {
    // nothing is checked where the samplers tell no log-probabilities of prompts
    const asked = (await parts.session()).openRl ? undefined : (witness ?? witnessOf(prompt));
    // sent before the forward pass of the check: samples wait for the sessions, but nothing waits for the check
    const opening = openSamplers(from, parts);
    const logp = asked && forward(asked.row);
    logp?.catch(() => undefined); // reported by the check
    if (asked && logp) witness = { row: asked.row, logp };
    const samplers = await opening;
    if (!asked || !logp) return { sampler: spread(samplers), proven: Promise.resolve() };
    const proven = Promise.all(
      samplers.map(async (sampler) => {
        const [sampled, now, before] = await Promise.all([sampler.score(asked.row), logp, asked.logp]);
        if (sampled) requireFresh(sampled, now, before, noiseOf(findings?.samplerGap));
      }),
    );
    proven.catch(() => undefined); // reported to the sampling calls
    return { sampler: spread(samplers), proven };
  };
}
