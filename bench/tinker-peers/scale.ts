/**
 * How large a step an engine takes on a loss, so that what servers make of losses can be compared.
 *
 * With an ε far above every gradient AdamW's first step is rate/ε · G, G being the gradient that the engine gathered, and
 * the log-probability of a row's targets grows by rate/ε · ⟨G, g⟩, g being the row's own gradient. Steps on one row, on
 * the same row twice, and on a longer row show what several datums and many tokens count.
 */
import { rowCount, type TokenRows } from "../../src/core/batch.ts";
import type { Engine } from "../../src/engine/engine.ts";
import { scoringData } from "../../src/engine/tinker/datum.ts";
import { type Datum, floatTensor } from "../../src/engine/tinker/protocol.ts";
import { openSession } from "../../src/engine/tinker/session.ts";
import { openTrainer } from "../../src/engine/tinker/trainer.ts";
import { transport } from "../../src/engine/tinker/transport.ts";
import { batchOf, nll } from "../imitation.ts";
import { key, type Peer } from "./peers.ts";

export interface Scale {
  /** Growth of the short row's log-probability by a step on itself, in nats. */
  readonly one: number;
  /** The same by a step on that row twice. */
  readonly twice: number;
  /** Growth of the long row's by a step on itself. */
  readonly long: number;
  /** Log-probabilities of the long row's targets before any step. */
  readonly logp: Float32Array;
}

const epsilon = 1e6;
const rate = 1e-4;
export const rank = 8;
const seed = 7;
const prompt = [4, 9, 2, 5];
const short = { tokens: [...prompt, 10, 11, 12, 2], from: prompt.length, group: "short" };
const long = {
  tokens: [...prompt, 12, 11, 10, 13, 14, 15, 16, 10, 11, 17, 18, 2],
  from: prompt.length,
  group: "long",
};

const grown = (before: Float32Array, after: Float32Array): number =>
  after.reduce((sum, x, i) => sum + x - before[i]!, 0);

/** By the loss Σ −ln p of all targets, as the system sees an engine: here or on a server, made equal. */
export async function scaleOf(engine: Engine): Promise<Scale> {
  const step = async (rows: readonly (typeof short)[]) => {
    const model = await engine.create({ id: "policy", seed, lexicon: [], contextTokens: 64 });
    const batch = batchOf(rows);
    const own = batchOf(rows.slice(0, 1));
    const before = (await model.score(own)).logp;
    await model.accumulate(batch, nll, 1);
    await model.step({ learningRate: rate * epsilon, epsilon, weightDecay: 0 });
    const after = (await model.score(own)).logp;
    await model.dispose();
    return { logp: before, growth: grown(before, after) };
  };
  const [one, twice, many] = [await step([short]), await step([short, short]), await step([long])];
  return { one: one.growth, twice: twice.growth, long: many.growth, logp: many.logp };
}

/** The same loss as the API has it, `cross_entropy` with weights of 1, as the server takes it. */
export async function rawScaleOf({ url, baseModel }: Peer): Promise<Scale> {
  const session = await openSession(transport({ url, key, patienceSeconds: 400 }), baseModel, "json");
  const step = async (rows: readonly (typeof short)[]) => {
    const trainer = await openTrainer(session, { baseModel, rank, seed });
    const data = weighted(batchOf(rows));
    const targets = rows[0]!.tokens.length - prompt.length;
    const own = async () => (await trainer.pass(data.slice(0, 1), "cross_entropy", true))[0]!.slice(-targets);
    const before = await own();
    await trainer.pass(data, "cross_entropy", false);
    await trainer.step({
      learning_rate: rate * epsilon,
      beta1: 0.9,
      beta2: 0.999,
      eps: epsilon,
      weight_decay: 0,
      grad_clip_norm: 0,
    });
    const growth = grown(before, await own());
    await trainer.unload();
    return { logp: before, growth };
  };
  try {
    const [one, twice, many] = [await step([short]), await step([short, short]), await step([long])];
    return { one: one.growth, twice: twice.growth, long: many.growth, logp: many.logp };
  } finally {
    session.close();
  }
}

/** Datums whose targets have the weight 1. */
function weighted(rows: TokenRows): Datum[] {
  const data = scoringData(rows);
  return Array.from({ length: rowCount(rows) }, (_, r) => {
    const { model_input, loss_fn_inputs } = data[r]!;
    const weights = new Float32Array(loss_fn_inputs.target_tokens!.data.length).fill(1);
    weights.fill(0, 0, prompt.length - 1);
    return { model_input, loss_fn_inputs: { ...loss_fn_inputs, weights: floatTensor(weights) } };
  });
}
