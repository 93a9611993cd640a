/**
 * How large a step an engine takes on a loss, so that what servers make of losses can be compared.
 *
 * With an ε far above every gradient AdamW's first step is rate/ε · G, G being the gradient that the engine gathered, and
 * the log-probability of a row's targets grows by rate/ε · ⟨G, g⟩, g being the row's own gradient. Where a server
 * multiplies the loss by c, G = c g and the growth is rate/ε · c |g|²: it follows that c = rate/ε · |G|² / growth, which needs
 * no knowledge of how its adapters were drawn. Steps on one row, on the same row twice, and on a longer row show what
 * several datums and many tokens count.
 */
import { rowCount, type TokenRows } from "../../src/core/batch.ts";
import type { Engine } from "../../src/engine/engine.ts";
import { scoringData } from "../../src/engine/tinker/datum.ts";
import { type Datum, floatTensor } from "../../src/engine/tinker/protocol.ts";
import { openSession } from "../../src/engine/tinker/session.ts";
import { gradientNormIn, openTrainer } from "../../src/engine/tinker/trainer.ts";
import { transport } from "../../src/engine/tinker/transport.ts";
import { batchOf, nll } from "../imitation.ts";
import type { Scale } from "./found.ts";
import { key, type Peer } from "./peers.ts";

const epsilon = 1e6;
const rate = 1e-4;
export const rank = 8;
const seeds = [7, 8, 9, 10, 11, 12, 13, 14];
const prompt = [4, 9, 2, 5];
const short = { tokens: [...prompt, 10, 11, 12, 2], from: prompt.length, group: "short" };
const long = {
  tokens: [...prompt, 12, 11, 10, 13, 14, 15, 16, 10, 11, 17, 18, 2],
  from: prompt.length,
  group: "long",
};
type Rows = readonly (typeof short)[];

interface Step {
  readonly logp: Float32Array;
  readonly growth: number;
  /** Absent where the server does not tell. */
  readonly gradientNorm: number | undefined;
}

async function scaleBy(step: (rows: Rows, seed: number) => Promise<Step>): Promise<Scale> {
  const [seed = 0, ...others] = seeds;
  const [one, two, many] = [
    await step([short], seed),
    await step([short, short], seed),
    await step([long], seed),
  ];
  const growths = [one.growth];
  for (const other of others) growths.push((await step([short], other)).growth);
  const { gradientNorm } = one;
  return {
    ...(gradientNorm !== undefined && { factor: (rate * gradientNorm ** 2) / one.growth }),
    twice: two.growth / one.growth,
    long: many.growth / one.growth,
    growths,
    logp: [...many.logp],
  };
}

const grown = (before: Float32Array, after: Float32Array): number =>
  after.reduce((sum, x, i) => sum + x - before[i]!, 0);

/** By the loss Σ −ln p of all targets, as the system sees an engine: here or on a server, made equal. */
export function scaleOf(engine: Engine): Promise<Scale> {
  return scaleBy(async (rows, seed) => {
    const model = await engine.create({ id: "policy", seed, lexicon: [], contextTokens: 64 });
    const own = batchOf(rows.slice(0, 1));
    const logp = (await model.score(own)).logp;
    await model.accumulate(batchOf(rows), nll, 1);
    const { gradientNorm } = await model.step({
      learningRate: rate * epsilon,
      epsilon,
      weightDecay: 0,
    });
    const after = (await model.score(own)).logp;
    await model.dispose();
    return { logp, growth: grown(logp, after), gradientNorm };
  });
}

/** The same loss as the API has it, `cross_entropy` with weights of 1, as the server takes it. */
export async function rawScaleOf({ url, baseModel }: Peer): Promise<Scale> {
  const session = await openSession(transport({ url, key, patienceSeconds: 400 }), baseModel);
  try {
    return await scaleBy(async (rows, seed) => {
      const trainer = await openTrainer(session, { baseModel, rank, seed });
      const data = weighted(batchOf(rows));
      const targets = rows[0]!.tokens.length - prompt.length;
      const own = async () =>
        (await trainer.pass(data.slice(0, 1), "cross_entropy", true))[0]!.slice(-targets);
      const logp = await own();
      await trainer.pass(data, "cross_entropy", false);
      const metrics = await trainer.step({
        learning_rate: rate * epsilon,
        beta1: 0.9,
        beta2: 0.999,
        eps: epsilon,
        weight_decay: 0,
        grad_clip_norm: 0,
      });
      const growth = grown(logp, await own());
      await trainer.unload();
      return { logp, growth, gradientNorm: gradientNormIn(metrics) };
    });
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
