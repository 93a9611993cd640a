/** A local model behind the `Model` contract: calls the engine thread, and writes files from the main thread. */
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { gapSums } from "../../common/statistics/gaps.ts";
import { addStats } from "../../common/statistics/stats.ts";
import { selectRows, selectTokens, togetherGroups } from "../../common/tokens/pack.ts";
import type { Batch, TokenRows } from "../../core/batch.ts";
import { rowCount } from "../../core/batch.ts";
import { WhetstoneError } from "../../core/errors.ts";
import type { Capability, Codec, Frozen, Loss, Model } from "../../core/model.ts";
import type { Cotangents, Outputs, Wanted } from "../../core/outputs.ts";
import type { ModelId, Stats } from "../../core/types.ts";
import { oneByOne, requireFit } from "../requests.ts";
import type { BaseModel } from "./base.ts";
import { readCheckpoint, writeCheckpoint } from "./checkpoint.ts";
import { chatCodec } from "./codec.ts";
import { damaged, files } from "./folder.ts";
import type { Host } from "./host.ts";
import {
  atIdsOf,
  cotangentsOf,
  everyTarget,
  outputRequestOf,
  results,
  targetsOfRows,
  wantedAt,
} from "./outputRequests.ts";
import { type MicroBatch, packRows, planMicroBatches } from "./packing.ts";
import { type Architecture, sizeOfParameter, trainedParameters } from "./parameters.ts";
import type { Handle, LocalRequest } from "./protocol.ts";
import type { Reader } from "./reader.ts";
import { requireTokens } from "./tokenIds.ts";
import { type TokenizerFiles, withoutOrigin } from "./tokenizer.ts";
import { mainGradient } from "./weights.ts";

export const localCapabilities: ReadonlySet<Capability> = new Set<Capability>([
  "tokens",
  "mix",
  "logp",
  "entropy",
  "topk",
  "at",
  "heads",
  "hidden",
  "inputGradient",
  "train",
  "freeze",
  "fork",
  "gradients",
]);

/** What all models of one engine share. */
export interface LocalParts {
  readonly host: Host;
  readonly architecture: Architecture;
  readonly tokenizer: TokenizerFiles;
  readonly reader: Reader;
  /** Maximum positions of one micro-batch, padding included. Bounds the memory of a training step. */
  readonly places: number;
}

/** Engine threads that have received the text of the tokens. */
const worded = new WeakSet<LocalParts>();

/** Where a model begins. */
interface Start {
  readonly version: number;
  /** Of an adapter that was trained on a model from elsewhere: checkpoints refer to it. */
  readonly base: BaseModel | undefined;
}

/** @param id the name in the run. @param handle of weights that the engine thread already holds. */
export function localModel(id: ModelId, parts: LocalParts, handle: Handle, start: Start): Model {
  const { host, architecture, places } = parts;
  const { config } = architecture;
  const codec: Codec = chatCodec(parts.tokenizer);
  let { version, base } = start;
  // calls that touch gradients or weights run in the order in which they are made
  const alone = oneByOne();

  /** Done once for the model and its copies. */
  async function sendWords(): Promise<void> {
    if (worded.has(parts)) return;
    worded.add(parts);
    await host.call("words", handle, withoutOrigin(parts.tokenizer));
  }

  function requireRows(rows: TokenRows): void {
    requireFit(rows, id, config.contextTokens);
    requireTokens("local engine", rows.tokens_N, config.vocabulary);
  }

  /** Runs rows that fit one micro-batch. */
  async function forward(part: TokenRows, layout: Omit<MicroBatch, "rows">, want: Wanted, keep: boolean) {
    const rows = packRows(part, layout, codec.padId);
    const given = { ...rows, ...atIdsOf(want, rows.A) };
    return {
      A: rows.A,
      out: await host.call("forward", handle, given, outputRequestOf(architecture, want), keep),
    };
  }

  const plan = (rows: TokenRows, groups: readonly (readonly number[])[]): MicroBatch[] =>
    planMicroBatches(rows, groups, config, places);

  async function score(rows: TokenRows, want: Wanted = {}): Promise<Outputs> {
    requireRows(rows);
    const { put, outputs } = results(architecture, outputRequestOf(architecture, want), rows.target_A.length);
    for (const micro of plan(rows, rowByRow(rows))) {
      const index = targetsOfRows(rows, micro.rows);
      put((await forward(selectTokens(rows, micro.rows), micro, wantedAt(want, index), false)).out, index);
    }
    return outputs;
  }

  async function accumulate<Aux>(
    batch: Batch,
    objective: Loss<Aux>,
    aux: Aux,
    into = mainGradient,
  ): Promise<Stats> {
    requireRows(batch);
    const stats: Stats = {};
    const gaps: number[] = [];
    const evaluate = (part: Batch, outputs: Outputs): Cotangents => {
      for (const gap of samplingGaps(part, outputs.logp, id, String(version))) gaps.push(gap);
      const { cotangents, stats: measured } = objective.evaluate(outputs, part, aux);
      addStats(stats, measured);
      return cotangents;
    };
    for (const micro of plan(batch, togetherGroups(batch, objective.together))) {
      const part = selectRows(batch, micro.rows);
      const want = objective.wants(aux, part);
      const wanted = outputRequestOf(architecture, want);
      const pieces = plan(part, rowByRow(part));
      const whole = everyTarget(part);
      if (pieces.length === 1) {
        const { A, out } = await forward(part, micro, want, true);
        const { put, outputs } = results(architecture, wanted, whole.length);
        put(out, whole);
        const cotangents = evaluate(part, outputs);
        await host.call("backward", handle, into, cotangentsOf(architecture, wanted, cotangents, whole, A));
        continue;
      }
      // too large to keep: computes all outputs first, then each part forward again and backward
      const cotangents = evaluate(part, await score(part, want));
      for (const piece of pieces) {
        const index = targetsOfRows(part, piece.rows);
        const { A } = await forward(selectTokens(part, piece.rows), piece, wantedAt(want, index), true);
        await host.call("backward", handle, into, cotangentsOf(architecture, wanted, cotangents, index, A));
      }
    }
    return {
      ...stats,
      targets: batch.target_A.length,
      ...gapSums("logpGap", gaps),
      "logpGap.noise.max": logpNoise(config.layers),
    };
  }

  async function inputGradient<Aux>(batch: Batch, objective: Loss<Aux>, aux: Aux): Promise<Float32Array> {
    requireRows(batch);
    const want = objective.wants(aux, batch);
    const wanted = outputRequestOf(architecture, want);
    const { cotangents } = objective.evaluate(await score(batch, want), batch, aux);
    const D = config.width;
    const out = new Float32Array(batch.tokens_N.length * D);
    // row by row: the gradients of a prefix that rows share would be added up
    for (const [r] of rowByRow(batch)) {
      const index = targetsOfRows(batch, [r!]);
      const row = selectTokens(batch, [r!]);
      const { A } = await forward(
        row,
        { shared: [[0]], longest: row.tokens_N.length },
        wantedAt(want, index),
        true,
      );
      const given = cotangentsOf(architecture, wanted, cotangents, index, A);
      const gradient = await host.call("inputGradient", handle, given);
      out.set(gradient.subarray(0, row.tokens_N.length * D), batch.rowOffset[r!]! * D);
    }
    return out;
  }

  const model: Model = {
    id,
    get version() {
      return String(version);
    },
    can: localCapabilities,
    codec,
    read: parts.reader.read,
    contextTokens: config.contextTokens,
    parameters: trainedParameters(architecture).reduce((sum, p) => sum + sizeOfParameter(p), 0),
    sample: async (requests) => {
      const given = requests.map(
        ({ mix, ...request }): LocalRequest => ({
          ...request,
          ...(mix && { mix: { of: handleOf(host, mix.of), share: mix.share } }),
        }),
      );
      const words = requests.some(({ stop = [] }) => stop.length > 0) && sendWords();
      // both at once, so that no other call gets in between
      const [samples] = await Promise.all([host.call("sample", handle, given), words]);
      return samples;
    },
    score,
    accumulate: (batch, objective, aux, into) => alone(() => accumulate(batch, objective, aux, into)),
    inputGradient: (batch, objective, aux) => alone(() => inputGradient(batch, objective, aux)),
    step: ({ pull, ...rule }) =>
      alone(async () => {
        const toward = pull && { toward: handleOf(host, pull.toward), strength: pull.strength };
        const done = await host.call("step", handle, rule, toward);
        version = done.version;
        return done.stats;
      }),
    freeze: () => alone(async () => frozenModel(await host.call("copy", handle, "fresh"), { version, base })),
    fork: (optimiser) =>
      alone(async () => localModel(id, parts, await host.call("copy", handle, optimiser), { version, base })),
    gradients: {
      dot: (a, b) => alone(() => host.call("dot", handle, a, b)),
      combine: (sum) => alone(() => host.call("combine", handle, sum)),
    },
    save: (folder) =>
      alone(async () =>
        writeCheckpoint(
          folder,
          { architecture, tokenizer: parts.tokenizer, ...(base && { base }) },
          await host.call("contents", handle),
        ),
      ),
    load: (folder) =>
      alone(async () => {
        const read = await readCheckpoint(folder);
        if (!isDeepStrictEqual(read.architecture, architecture))
          throw damaged(folder, "a model of another shape");
        if (!isDeepStrictEqual(read.tokenizer, parts.tokenizer)) {
          throw damaged(join(folder, files.tokenizer), "the words of another model");
        }
        await host.call("replace", handle, read.contents);
        ({ base } = read);
        version = read.contents.version;
      }),
    async dispose() {
      if (!host.ended) await host.call("drop", handle);
    },
  };

  function frozenModel(copy: Handle, from: Start): Frozen {
    const inner = localModel(id, parts, copy, from);
    let blended = from.version;
    const frozen: Frozen = {
      get version() {
        return String(blended);
      },
      codec,
      sample: inner.sample,
      score: inner.score,
      async blend(toward, rate) {
        blended = await host.call("blend", copy, handleOf(host, toward), rate);
      },
      save: inner.save,
      dispose: inner.dispose,
    };
    handles.set(frozen, { host, handle: copy });
    return frozen;
  }

  handles.set(model, { host, handle });
  return model;
}

/** The handle of a model's or a frozen model's weights. */
const handles = new WeakMap<Model | Frozen, { readonly host: Host; readonly handle: Handle }>();

function handleOf(host: Host, of: Model | Frozen): Handle {
  const known = handles.get(of);
  if (known?.host === host) return known.handle;
  throw new WhetstoneError("capability.missing", {
    where: "local engine",
    got: "a model of another engine",
    expected: "one made by this engine",
    fix: "Blend, pull and mix only between models of one engine.",
  });
}

const rowByRow = (rows: TokenRows): number[][] => Array.from({ length: rowCount(rows) }, (_, r) => [r]);

/**
 * Mean gap between sampling and training that rounding to float32 makes, in nats: measured for 30 layers (see
 * docs/decisions.md), and assumed to grow with the root of the depth, as sums of independent errors do.
 */
const logpNoise = (layers: number): number => 2e-6 * Math.sqrt(layers);

/** |ln p now − ln p when sampled| of each token that the current weights sampled. */
function samplingGaps(batch: Batch, logp: Float32Array, model: ModelId, version: string): number[] {
  const gaps: number[] = [];
  for (let r = 0; r < rowCount(batch); r++) {
    const row = batch.rows[r]!;
    if (row.model !== model || row.version !== version) continue;
    if (row.origin !== "sampled" || row.context !== "sampled") continue;
    for (let a = batch.targetOffset[r]!; a < batch.targetOffset[r + 1]!; a++) {
      gaps.push(Math.abs(logp[a]! - batch.logp_A[a]!));
    }
  }
  return gaps;
}
