/** A model on a server behind the `Model` contract. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { writeFlushed } from "../../common/files/files.ts";
import { adamwDefaults } from "../../common/statistics/adamw.ts";
import type { Batch, TokenRows } from "../../core/batch.ts";
import { rowCount } from "../../core/batch.ts";
import { messageOf, WhetstoneError } from "../../core/errors.ts";
import type { Capability, Codec, Frozen, Loss, Model, StepRule, StepStats } from "../../core/model.ts";
import type { Cotangents, Outputs, Wanted } from "../../core/outputs.ts";
import type { ModelId, Stats } from "../../core/types.ts";
import { oneByOne, requireFit } from "../requests.ts";
import { atTargets, carrierData, reductions, scoringData } from "./datum.ts";
import { findings as findingsShape } from "./probe.ts";
import { openSampler, type Sampler, spread } from "./sampler.ts";
import { noiseOf, requireFresh, type Witness, witnessOf } from "./samplerSync.ts";
import { letGo, savedFile } from "./serverCheckpoints.ts";
import type { Session } from "./session.ts";
import { idsFor, mostWords, outputsOf, severalCotangents, severalData } from "./topKTargets.ts";
import { gradientNormIn, openTrainer, type Trainer } from "./trainer.ts";
import { isForgotten } from "./transport.ts";

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

/** What all models of one engine share. */
export interface TinkerParts {
  /** Opened by the first call. */
  readonly session: () => Promise<Session>;
  readonly url: string;
  readonly baseModel: string;
  readonly codec: Codec;
  /** Number of sampling sessions for each weight version. */
  readonly samplers: number;
  /** A unique checkpoint name, e.g. random. */
  readonly unique: () => string;
}

const savedShape = z.strictObject({
  format: z.literal(1),
  baseModel: z.string(),
  rank: z.int().positive(),
  seed: z.int(),
  /** Path of the weights on the server; null before the first step, since the seed recreates them. */
  path: z.string().nullable(),
  version: z.int().nonnegative(),
  contextTokens: z.int().positive(),
  reduction: z.enum(reductions).default("sum"),
  /** The server's behaviour, as probed when the run began. */
  findings: findingsShape.optional(),
});
export type Saved = z.infer<typeof savedShape>;
export type Begun = Omit<Saved, "format" | "baseModel">;

/** @throws WhetstoneError `checkpoint.damaged`. */
export async function readSaved(folder: string, { baseModel }: TinkerParts): Promise<Saved> {
  const file = join(folder, savedFile);
  const damaged = (got: string, cause?: unknown): WhetstoneError =>
    new WhetstoneError("checkpoint.damaged", {
      where: file,
      got,
      expected: `a checkpoint of the tinker engine for ${baseModel}`,
      fix: "Resume from an earlier checkpoint, with the base model that it began with.",
      cause,
    });
  let saved: Saved;
  try {
    saved = savedShape.parse(JSON.parse(await readFile(file, "utf8")));
  } catch (e) {
    throw damaged(messageOf(e).slice(0, 300), e);
  }
  if (saved.baseModel !== baseModel) throw damaged(`one for ${saved.baseModel}`);
  return saved;
}

/** A model with the weights of a path, or new ones. */
async function begin(
  parts: TinkerParts,
  { seed, rank, path }: Pick<Begun, "seed" | "rank" | "path">,
  optimiser: boolean,
): Promise<Trainer> {
  const { baseModel } = parts;
  const trainer = await openTrainer(await parts.session(), { baseModel, rank, seed });
  // a server accepts this only as a model's first operation
  if (path !== null) await trainer.load(path, optimiser);
  return trainer;
}

/** Sampling sessions with the current weights of a model. */
async function openSamplers(trainer: Trainer, { session, samplers, codec }: TinkerParts): Promise<Sampler[]> {
  const ids = await Promise.all(Array.from({ length: samplers }, () => trainer.sampler()));
  const open = await session();
  return ids.map((id) => openSampler(open, id, codec));
}

/** Gradients to accumulate. */
interface Due {
  readonly rows: TokenRows;
  readonly logp_A: Float32Array;
  readonly cotangent_A: Float32Array;
}

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
  let { version, seed, rank, contextTokens } = begun;
  const { reduction, findings } = begun;
  const several = findings?.several === true && reduction === "sum";
  const can = new Set([...tinkerCan, ...(several ? emulated(codec.vocabulary) : [])]);
  let trainer = await begin(parts, begun, optimiser);
  let sampling: (Snapshot & { readonly version: number }) | undefined;
  let witness: Witness | undefined;
  /** Backward passes that wait for the number of datums of the step, if the server divides by it. */
  let waiting: Due[] = [];
  // calls that touch gradients or weights run in the order in which they are made
  const alone = oneByOne();

  async function forward(rows: TokenRows): Promise<Float32Array> {
    requireFit(rows, id, contextTokens);
    return atTargets(rows, await trainer.pass(scoringData(rows), "cross_entropy", true));
  }

  /** The requested outputs. `ids` and `logp_E` are the additional targets that the server was asked for, if any. */
  async function outputs(rows: TokenRows, want: Wanted) {
    requireOutputs(want, can);
    const ids = idsFor(want, rows.target_A.length, codec.vocabulary);
    const [logp, logp_E] = await Promise.all([
      forward(rows),
      ids &&
        trainer
          .pass(severalData(rows, ids), "cross_entropy", true)
          .then((per) => atTargets(rows, per, ids.width)),
    ]);
    const more = ids && logp_E ? outputsOf(want, ids, logp_E) : {};
    return { outputs: { logp, heads: {}, ...more }, ...(ids && logp_E && { ids, logp_E }) };
  }

  /**
   * Sampling sessions of the current weights, and a check that they have these weights, which takes a little longer.
   * @param from a model with these weights.
   */
  async function snapshot(prompt: Int32Array, from = trainer): Promise<Snapshot> {
    const asked = witness ?? witnessOf(prompt);
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
        requireFresh(sampled, now, before, noiseOf(findings?.samplerGap));
      }),
    );
    proven.catch(() => undefined); // reported to the sampling calls
    return { sampler: spread(samplers), proven };
  }

  /** Sends a backward pass. Its errors are reported by the step, which is sent right after it without waiting. */
  function learnFrom({ rows, logp_A, cotangent_A }: Due, datums: number): void {
    const data = carrierData(rows, logp_A, cotangent_A, reduction, datums);
    void trainer.pass(data, "importance_sampling", false);
  }

  async function accumulate<A>(batch: Batch, objective: Loss<A>, aux: A): Promise<Stats> {
    const want = objective.wants(aux, batch);
    const { outputs: said, ids, logp_E } = await outputs(batch, want);
    const logp_A = said.logp;
    const { cotangents, stats } = objective.evaluate(said, batch, aux);
    const slopes = ids && logp_E && severalCotangents(want, ids, logp_E, said, cotangents);
    if (ids && slopes) {
      requireFinite(slopes);
      // the loss is −Σ weight · ln p
      const weights = slopes.map((x) => -x);
      void trainer.pass(severalData(batch, ids, weights), "cross_entropy", false);
    }
    const cotangent_A = logpCotangents(cotangents, logp_A.length);
    if (reduction === "sum") learnFrom({ rows: batch, logp_A, cotangent_A }, 1);
    else waiting.push({ rows: batch, logp_A, cotangent_A });
    // a gap between a server's sampler and its trainer is not our error: it is reported, not rejected
    return {
      ...stats,
      targets: logp_A.length,
      "samplerGap.max": samplingGap(batch, logp_A, id, String(version)),
    };
  }

  async function step(rule: StepRule): Promise<StepStats> {
    requireAdamw(rule);
    const datums = waiting.reduce((n, { rows }) => n + rowCount(rows), 0);
    const due = waiting;
    waiting = [];
    for (const one of due) learnFrom(one, datums);
    const metrics = await trainer.step({
      learning_rate: rule.learningRate,
      beta1: rule.betas?.[0] ?? adamwDefaults.beta1,
      beta2: rule.betas?.[1] ?? adamwDefaults.beta2,
      eps: rule.epsilon ?? adamwDefaults.epsilon,
      weight_decay: rule.weightDecay ?? 0,
      grad_clip_norm: rule.clip ?? 0,
    });
    version++;
    const gradientNorm = gradientNormIn(metrics);
    return gradientNorm === undefined ? {} : { gradientNorm };
  }

  /** Saves the weights on the server. @returns the data that opens them again. */
  async function keep(): Promise<Saved> {
    const path = await trainer.save(`whetstone-${parts.unique()}`);
    const kept = { rank, seed, path, version, contextTokens, reduction };
    return { format: 1, baseModel, ...kept, ...(findings && { findings }) };
  }

  return {
    id,
    get version() {
      return String(version);
    },
    can,
    codec,
    contextTokens,
    parameters: null,
    async sample(requests) {
      const [first] = requests;
      if (!first) return [];
      const current = await alone(async () => {
        if (sampling?.version !== version) {
          sampling = { version, ...(await snapshot(first.prompt)) };
        }
        return sampling;
      });
      const sampled = current.sampler.sample(requests, String(current.version));
      sampled.catch(() => undefined);
      await current.proven;
      return await sampled;
    },
    score: (rows, want = {}) => alone(async () => (await outputs(rows, want)).outputs),
    accumulate: (batch, objective, aux, into) =>
      alone(async () => {
        if (into !== undefined && into !== "main") throw without("gradients", `a gradient named "${into}"`);
        return await accumulate(batch, objective, aux);
      }),
    step: (rule) => alone(() => step(rule)),
    freeze: () =>
      alone(async () => {
        const prompt = codec.open([{ role: "user", content: "Which number comes after 41?" }]);
        // the weights are saved as well, since a run may save a frozen model; with reliable snapshots nothing waits for that
        const first = findings?.keeps === false ? await keep() : undefined;
        const own = first && (await begin(parts, first, false));
        const { sampler, proven } = await snapshot(prompt, own);
        const kept = first ? Promise.resolve(first) : keep();
        kept.catch(() => undefined);
        await proven;
        return frozenModel(sampler, kept, String(version), parts, own);
      }),
    fork: (optimiser) =>
      alone(async () => {
        const saved = await keep();
        const forked = await tinkerModel(id, parts, saved, optimiser === "copy");
        await forget(parts, saved);
        return forked;
      }),
    save: (folder) => alone(async () => writeSaved(folder, await keep())),
    load: (folder) =>
      alone(async () => {
        const saved = await readSaved(folder, parts);
        await trainer.unload();
        trainer = await begin(parts, saved, true);
        ({ version, seed, rank, contextTokens } = saved);
        sampling = undefined;
        waiting = [];
      }),
    dispose: () => trainer.unload(),
  };
}

/** Deletes temporary checkpoints. */
async function forget({ session }: TinkerParts, { path }: Pick<Saved, "path">): Promise<void> {
  if (path !== null) await letGo((await session()).over, path);
}

const writeSaved = (folder: string, saved: Saved): Promise<void> =>
  writeFlushed(join(folder, savedFile), `${JSON.stringify(saved, null, 1)}\n`);

/**
 * @param saved the data that opens the weights again.
 * @param own a model that holds them permanently. Undefined: they are a snapshot of a model that keeps training.
 */
function frozenModel(
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
      return { logp: await over((one) => one.score(rows)), heads: {} };
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

function without(capability: string, got: string): WhetstoneError {
  return new WhetstoneError("capability.missing", {
    where: "tinker engine",
    got,
    expected: `a method without ${capability}, which the Tinker API does not offer`,
    fix: "Choose another method, or use --engine local.",
  });
}

function requireOutputs(
  { entropy, topk, at, heads = [], hidden = [] }: Wanted,
  can: ReadonlySet<Capability>,
): void {
  const more = [
    ...(entropy && !can.has("entropy") ? ["entropy"] : []),
    ...(topk !== undefined && !can.has("topk") ? ["topk"] : []),
    ...(at && !can.has("at") ? ["at"] : []),
    ...(heads.length > 0 ? ["heads"] : []),
    ...(hidden.length > 0 ? ["hidden"] : []),
  ];
  if (more.length > 0) throw without(more.join(", "), `a request for ${more.join(", ")}`);
}

function requireAdamw({ optimiser = "adamw", pull, groups }: StepRule): void {
  if (optimiser !== "adamw") throw without(`optimiser ${optimiser}`, `a step with ${optimiser}`);
  if (pull) throw without("pull", "a pull towards frozen weights");
  if (groups && Object.keys(groups).length > 0) {
    throw without("groups", "learning rates for groups of parameters");
  }
}

function logpCotangents({ logp }: Cotangents, targets: number): Float32Array {
  const out = logp ?? new Float32Array(targets);
  requireFinite(out);
  return out;
}

function requireFinite(cotangent: Float32Array): void {
  if (cotangent.every(Number.isFinite)) return;
  throw new WhetstoneError("value.notFinite", {
    where: "tinker engine, accumulate",
    got: "a gradient that is NaN or infinite",
    expected: "finite gradients",
    fix: "Look for rewards or log-probabilities that are NaN or infinite.",
  });
}

/** Largest |ln p of the trainer − ln p of the sampler| over tokens that the current weights sampled. */
function samplingGap(batch: Batch, logp_A: Float32Array, model: ModelId, version: string): number {
  let gap = 0;
  batch.rows.forEach((row, r) => {
    if (row.model !== model || row.version !== version || row.origin !== "sampled") return;
    if (row.context !== "sampled") return;
    for (let a = batch.targetOffset[r]!; a < batch.targetOffset[r + 1]!; a++) {
      gap = Math.max(gap, Math.abs(logp_A[a]! - batch.logp_A[a]!));
    }
  });
  return gap;
}
