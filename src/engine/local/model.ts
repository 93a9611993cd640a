/** A local model as the rest of the system sees it: calls to the engine thread, files on the main one. */
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { Batch, TokenRows } from "../../core/batch.ts";
import { rowCount } from "../../core/batch.ts";
import { WhetstoneError } from "../../core/errors.ts";
import type { Capability, Codec, Frozen, Model, Objective } from "../../core/model.ts";
import type { Outputs, Wanted } from "../../core/outputs.ts";
import { selectRows, selectTokens, togetherGroups } from "../../core/pack.ts";
import { addStats } from "../../core/stats.ts";
import type { ModelId, Stats } from "../../core/words.ts";
import { damaged, files, readCheckpoint, writeCheckpoint } from "./checkpoint.ts";
import { chatCodec } from "./codec.ts";
import type { DecoderConfig } from "./config.ts";
import type { Host } from "./host.ts";
import { pad, planMicroBatches } from "./micro-batches.ts";
import { parametersOf, sizeOfParameter } from "./parameters.ts";
import type { Handle } from "./protocol.ts";
import { requireTokens } from "./token-ids.ts";
import type { TokenizerFiles } from "./tokenizer.ts";
import { mainGradient } from "./weights.ts";

export const localCapabilities: ReadonlySet<Capability> = new Set<Capability>([
  "tokens",
  "logp",
  "entropy",
  "train",
  "freeze",
  "fork",
  "gradients",
]);

/** What all models of one engine share. */
export interface LocalParts {
  readonly host: Host;
  readonly config: DecoderConfig;
  readonly tokenizer: TokenizerFiles;
  /** Most tokens of one micro-batch, padding included. Bounds the memory of a training step. */
  readonly microBatchTokens: number;
}

function requireKnown(want: Wanted): void {
  const missing = (["topk", "at", "heads", "hidden", "inputGradient"] as const).filter(
    (name) => want[name] !== undefined,
  );
  if (missing.length === 0) return;
  throw new WhetstoneError("capability.missing", {
    where: "local engine",
    got: `a wish for ${missing.join(", ")}`,
    expected: `only ${[...localCapabilities].join(", ")}`,
    mend: "Choose a method whose needs this engine meets; `whetstone methods` lists them.",
  });
}

/** @param id the name in the run. @param handle of weights that the engine thread holds already. */
export function localModel(id: ModelId, parts: LocalParts, handle: Handle, startVersion: number): Model {
  const { host, config } = parts;
  const codec: Codec = chatCodec(parts.tokenizer);
  let version = startVersion;
  // what touches gradients or weights happens in the order of the calls
  let turn: Promise<unknown> = Promise.resolve();
  const alone = <T>(work: () => Promise<T>): Promise<T> => {
    const result = turn.then(work, work);
    turn = result.catch(() => undefined);
    return result;
  };

  function requireFit(rows: TokenRows): void {
    for (let r = 0; r < rowCount(rows); r++) {
      const length = rows.rowOffset[r + 1]! - rows.rowOffset[r]!;
      if (length <= config.contextTokens) continue;
      throw new WhetstoneError("context.tooLong", {
        where: `model "${id}"`,
        got: `a row of ${length} tokens`,
        expected: `at most ${config.contextTokens}`,
        mend: "Limit the turns of an episode or make the model with a longer context.",
      });
    }
  }

  function requireRows(rows: TokenRows): void {
    requireFit(rows);
    requireTokens("local engine", rows.tokens_N, config.vocabulary);
  }

  async function score(rows: TokenRows, want: Wanted = {}): Promise<Outputs> {
    requireKnown(want);
    requireRows(rows);
    const A = rows.target_A.length;
    const logp = new Float32Array(A);
    const entropy = new Float32Array(A);
    const each = Array.from({ length: rowCount(rows) }, (_, r) => [r]);
    for (const picked of planMicroBatches(rows, each, parts.microBatchTokens)) {
      const out = await host.call("forward", handle, pad(selectTokens(rows, picked), codec.padId), false);
      let from = 0;
      for (const r of picked) {
        const to = rows.targetOffset[r]!;
        const n = rows.targetOffset[r + 1]! - to;
        logp.set(out.logp.subarray(from, from + n), to);
        entropy.set(out.entropy.subarray(from, from + n), to);
        from += n;
      }
    }
    return { logp, heads: {}, ...(want.entropy ? { entropy } : {}) };
  }

  async function accumulate<Aux>(
    batch: Batch,
    objective: Objective<Aux>,
    aux: Aux,
    into = mainGradient,
  ): Promise<Stats> {
    requireRows(batch);
    const stats: Stats = {};
    const plan = planMicroBatches(batch, togetherGroups(batch, objective.together), parts.microBatchTokens);
    let logpGap = 0;
    let entropySum = 0;
    for (const picked of plan) {
      const part = selectRows(batch, picked);
      const want = objective.wants(aux, part);
      requireKnown(want);
      const A = part.target_A.length;
      const rows = pad(part, codec.padId);
      const out = await host.call("forward", handle, rows, true);
      const outputs: Outputs = {
        logp: out.logp.subarray(0, A),
        heads: {},
        ...(want.entropy ? { entropy: out.entropy.subarray(0, A) } : {}),
      };
      for (let a = 0; a < A; a++) entropySum += out.entropy[a]!;
      logpGap = Math.max(logpGap, samplingGap(part, outputs.logp, id, String(version)));
      const { cotangents, stats: measured } = objective.evaluate(outputs, part, aux);
      addStats(stats, measured);
      const padded = (xs: Float32Array | undefined): Float32Array => {
        const whole = new Float32Array(rows.A);
        if (xs) whole.set(xs);
        return whole;
      };
      await host.call("backward", handle, into, {
        logp: padded(cotangents.logp),
        ...(cotangents.entropy ? { entropy: padded(cotangents.entropy) } : {}),
      });
    }
    return {
      ...stats,
      targets: batch.target_A.length,
      "entropy/targets": entropySum,
      "logpGap.max": logpGap,
    };
  }

  const model: Model = {
    id,
    get version() {
      return String(version);
    },
    can: localCapabilities,
    codec,
    contextTokens: config.contextTokens,
    parameters: parametersOf(config).reduce((sum, p) => sum + sizeOfParameter(p), 0),
    sample: (requests) => host.call("sample", handle, requests),
    score,
    accumulate: (batch, objective, aux, into) => alone(() => accumulate(batch, objective, aux, into)),
    step: ({ pull, ...rule }) =>
      alone(async () => {
        const toward = pull && { toward: handleOf(host, pull.toward), strength: pull.strength };
        const done = await host.call("step", handle, rule, toward);
        version = done.version;
        return done.stats;
      }),
    freeze: () => alone(async () => frozenModel(await host.call("copy", handle, "fresh"), version)),
    fork: (optimiser) =>
      alone(async () => localModel(id, parts, await host.call("copy", handle, optimiser), version)),
    gradients: {
      dot: (a, b) => alone(() => host.call("dot", handle, a, b)),
      combine: (sum) => alone(() => host.call("combine", handle, sum)),
    },
    save: (folder) => alone(async () => writeCheckpoint(folder, parts, await host.call("contents", handle))),
    load: (folder) =>
      alone(async () => {
        const read = await readCheckpoint(folder);
        if (!isDeepStrictEqual(read.config, config)) throw damaged(folder, "a model of another shape");
        if (!isDeepStrictEqual(read.tokenizer, parts.tokenizer)) {
          throw damaged(join(folder, files.tokenizer), "the words of another model");
        }
        await host.call("replace", handle, read.contents);
        version = read.contents.version;
      }),
    async dispose() {
      if (!host.ended) await host.call("drop", handle);
    },
  };

  function frozenModel(copy: Handle, copyVersion: number): Frozen {
    const inner = localModel(id, parts, copy, copyVersion);
    let blended = copyVersion;
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

/** Which engine-thread weights stand behind a model or a frozen one. */
const handles = new WeakMap<Model | Frozen, { readonly host: Host; readonly handle: Handle }>();

function handleOf(host: Host, of: Model | Frozen): Handle {
  const known = handles.get(of);
  if (known?.host === host) return known.handle;
  throw new WhetstoneError("capability.missing", {
    where: "local engine",
    got: "a model of another engine",
    expected: "one made by this engine",
    mend: "Blend and pull only between models of one engine.",
  });
}

/** Largest |ln p now − ln p when sampled| over tokens that these very weights sampled. */
function samplingGap(batch: Batch, logp: Float32Array, model: ModelId, version: string): number {
  let gap = 0;
  for (let r = 0; r < rowCount(batch); r++) {
    const row = batch.rows[r]!;
    if (row.model !== model || row.version !== version) continue;
    if (row.origin !== "sampled" || row.context !== "sampled") continue;
    for (let a = batch.targetOffset[r]!; a < batch.targetOffset[r + 1]!; a++) {
      gap = Math.max(gap, Math.abs(logp[a]! - batch.logp_A[a]!)); // a NaN stays
    }
  }
  return gap;
}
