/** Passes and steps of a model on a server. */
import { adamwDefaults } from "../../common/statistics/adamw.ts";
import type { Batch, TokenRows } from "../../core/batch.ts";
import { rowCount } from "../../core/batch.ts";
import { WhetstoneError } from "../../core/errors.ts";
import type { Capability, Loss, StepRule, StepStats } from "../../core/model.ts";
import type { Cotangents, Outputs, Wanted } from "../../core/outputs.ts";
import type { ModelId, Stats } from "../../core/types.ts";
import { requireFit } from "../requests.ts";
import { atTargets, carrierData, type Reduction, scoringData } from "./datum.ts";
import { evenCount, evenPass } from "./evenly.ts";
import type { Datum } from "./protocol.ts";
import { idsFor, outputsOf, severalCotangents, severalData } from "./topKTargets.ts";
import { gradientNormIn, type Trainer } from "./trainer.ts";
import { requireAdamw, requireOutputs } from "./unsupported.ts";

/** A model's trainer and version, which a load replaces. */
export interface Current {
  trainer: Trainer;
  version: number;
  contextTokens: number;
}

/** Gradients to accumulate. */
interface Due {
  readonly rows: TokenRows;
  readonly logp_A: Float32Array;
  readonly cotangent_A: Float32Array;
}

export interface PassOptions {
  readonly can: ReadonlySet<Capability>;
  readonly vocabulary: number;
  readonly reduction: Reduction;
}

export interface Passes {
  forward(rows: TokenRows): Promise<Float32Array>;
  score(rows: TokenRows, want: Wanted): Promise<Outputs>;
  accumulate<A>(batch: Batch, objective: Loss<A>, aux: A): Promise<Stats>;
  step(rule: StepRule): Promise<StepStats>;
  /** Drops gradients that were not sent yet. */
  drop(): void;
}

/** @param id the name in the run. */
export function modelPasses(
  id: ModelId,
  current: Current,
  { can, vocabulary, reduction }: PassOptions,
): Passes {
  /** Backward passes that wait for the number of datums of the step, if the server divides by it. */
  let waiting: Due[] = [];

  async function forward(rows: TokenRows): Promise<Float32Array> {
    requireFit(rows, id, current.contextTokens);
    return atTargets(rows, await evenPass(current.trainer, scoringData(rows), "cross_entropy", true));
  }

  /** The requested outputs. `ids` and `logp_E` are the additional targets that the server was asked for, if any. */
  async function outputs(rows: TokenRows, want: Wanted) {
    requireOutputs(want, can);
    const ids = idsFor(want, rows.target_A.length, vocabulary);
    const [logp, logp_E] = await Promise.all([
      forward(rows),
      ids &&
        evenPass(current.trainer, severalData(rows, ids), "cross_entropy", true).then((per) =>
          atTargets(rows, per, ids.width),
        ),
    ]);
    const more = ids && logp_E ? outputsOf(want, ids, logp_E) : {};
    return { outputs: { logp, heads: {}, ...more }, ...(ids && logp_E && { ids, logp_E }) };
  }

  /** Its errors are reported by the step, which is sent right after it without waiting. */
  function learning(data: readonly Datum[], lossFn: string): void {
    evenPass(current.trainer, data, lossFn, false).catch(() => undefined);
  }

  /** Sends a backward pass. */
  function learnFrom({ rows, logp_A, cotangent_A }: Due, datums: number): void {
    const data = carrierData(rows, logp_A, cotangent_A, reduction, datums);
    learning(data, "importance_sampling");
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
      learning(severalData(batch, ids, weights), "cross_entropy");
    }
    const cotangent_A = logpCotangents(cotangents, logp_A.length);
    if (reduction === "sum") learnFrom({ rows: batch, logp_A, cotangent_A }, 1);
    else waiting.push({ rows: batch, logp_A, cotangent_A });
    // a gap between a server's sampler and its trainer is not our error: it is reported, not rejected
    return {
      ...stats,
      targets: logp_A.length,
      "samplerGap.max": samplingGap(batch, logp_A, id, String(current.version)),
    };
  }

  async function step(rule: StepRule): Promise<StepStats> {
    requireAdamw(rule);
    const datums = waiting.reduce((n, { rows }) => n + evenCount(current.trainer, rowCount(rows)), 0);
    const due = waiting;
    waiting = [];
    for (const one of due) learnFrom(one, datums);
    const metrics = await current.trainer.step({
      learning_rate: rule.learningRate,
      beta1: rule.betas?.[0] ?? adamwDefaults.beta1,
      beta2: rule.betas?.[1] ?? adamwDefaults.beta2,
      eps: rule.epsilon ?? adamwDefaults.epsilon,
      weight_decay: rule.weightDecay ?? 0,
      grad_clip_norm: rule.clip ?? 0,
    });
    current.version++;
    const gradientNorm = gradientNormIn(metrics);
    return gradientNorm === undefined ? {} : { gradientNorm };
  }

  return {
    forward,
    score: async (rows, want) => (await outputs(rows, want)).outputs,
    accumulate,
    step,
    drop() {
      waiting = [];
    },
  };
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
