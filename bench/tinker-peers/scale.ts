/**
 * How large a step an engine takes on a loss, so that what servers make of losses can be compared.
 *
 * With an ε far above every gradient and no momentum, AdamW steps by rate/ε · G, G being the gradient that the engine
 * gathered, and the log-probability of a row's targets grows by rate/ε · ⟨G, g⟩, g being the row's own gradient. Where a
 * server multiplies the loss by c, G = c g and the growth is rate/ε · c |g|²: it follows that c = rate/ε · |G|² / growth,
 * which needs no knowledge of how its adapters were drawn. Steps so small that the gradient stays what it is can follow
 * each other on one adapter: on a row, on the same row twice, on the row again and on a longer one, which shows what
 * several datums and many tokens count on whatever was drawn.
 */
import type { Engine } from "../../src/engine/engine.ts";
import { scoringData } from "../../src/engine/tinker/datum.ts";
import type { Datum } from "../../src/engine/tinker/protocol.ts";
import { openSession } from "../../src/engine/tinker/session.ts";
import { floatTensor } from "../../src/engine/tinker/tensors.ts";
import { gradientNormIn, openTrainer, type Trainer } from "../../src/engine/tinker/trainer.ts";
import { transport } from "../../src/engine/tinker/transport.ts";
import { batchOf, nll } from "../imitation.ts";
import type { Draw, Scale } from "./found.ts";
import { key, type Peer } from "./peers.ts";

const epsilon = 1e6;
/** A step on a row raises its log-probability by some hundredths of a nat: far above rounding, and nearly linear. */
const rate = 1e-5;
export const rank = 8;
const seeds = [7, 8, 9, 10, 11, 12, 13, 14];
const prompt = [4, 9, 2, 5];
const short = { tokens: [...prompt, 10, 11, 12, 2], from: prompt.length, group: "short" };
export const long = {
  tokens: [...prompt, 12, 11, 10, 13, 14, 15, 16, 10, 11, 17, 18, 2],
  from: prompt.length,
  group: "long",
};
type Row = typeof short;

/** Plain descent by {@link rate}, as the API has it. */
const descent = {
  learning_rate: rate * epsilon,
  beta1: 0,
  beta2: 0,
  eps: epsilon,
  weight_decay: 0,
  grad_clip_norm: 0,
};

/** An adapter, freshly drawn. */
interface Adapter {
  /** Of the row's targets. */
  logp(row: Row): Promise<Float32Array>;
  /** On the loss Σ −ln p of all targets. @returns the gradient's norm; absent where the server does not tell. */
  step(rows: readonly Row[]): Promise<number | undefined>;
  drop(): Promise<void>;
}

const sum = (xs: Float32Array): number => xs.reduce((a, b) => a + b, 0);

async function drawOf({ logp, step }: Adapter): Promise<Draw> {
  /** By how much a step on these raises the log-probability of the first. */
  async function growth(row: Row, ...others: readonly Row[]) {
    const before = sum(await logp(row));
    const gradientNorm = await step([row, ...others]);
    return { nats: sum(await logp(row)) - before, gradientNorm };
  }
  const once = await growth(short);
  const twice = await growth(short, short);
  const again = await growth(short);
  const longer = await growth(long);
  const plain = (once.nats + again.nats) / 2;
  const { gradientNorm } = once;
  return {
    growth: once.nats,
    twice: twice.nats / plain,
    long: longer.nats / plain,
    ...(gradientNorm !== undefined && { factor: (rate * gradientNorm ** 2) / once.nats }),
  };
}

async function scaleBy(open: (seed: number) => Promise<Adapter>): Promise<Scale> {
  const draws: Draw[] = [];
  let logp: number[] = [];
  for (const seed of seeds) {
    const adapter = await open(seed);
    try {
      logp = [...(await adapter.logp(long))];
      draws.push(await drawOf(adapter));
    } finally {
      await adapter.drop();
    }
  }
  return { draws, logp };
}

/** By the loss as the system sees an engine: here or on a server, made equal. */
export function scaleOf(engine: Engine): Promise<Scale> {
  return scaleBy(async (seed) => {
    const model = await engine.create({ id: "policy", seed, vocabulary: [], contextTokens: 64 });
    return {
      logp: async (row) => (await model.score(batchOf([row]))).logp,
      async step(rows) {
        await model.accumulate(batchOf(rows), nll, 1);
        const { gradientNorm } = await model.step({
          learningRate: rate * epsilon,
          betas: [0, 0],
          epsilon,
          weightDecay: 0,
        });
        return gradientNorm;
      },
      drop: () => model.dispose(),
    };
  });
}

/** By the same loss as the API has it, `cross_entropy` with weights of 1, as the server takes it. */
export async function rawScaleOf({ url, baseModel }: Peer): Promise<Scale> {
  const session = await openSession(transport({ url, key, patienceSeconds: 400 }), baseModel);
  try {
    return await scaleBy(async (seed) => {
      const trainer = await openTrainer(session, { baseModel, rank, seed });
      return {
        logp: (row) => logpOf(trainer, row),
        async step(rows) {
          await trainer.pass(weighted(rows), "cross_entropy", false);
          return gradientNormIn(await trainer.step(descent));
        },
        drop: () => trainer.unload(),
      };
    });
  } finally {
    session.close();
  }
}

/** Of the row's targets, by a pass forward; weights of 0, since a server may have backward passes alone. */
async function logpOf(trainer: Trainer, row: Row): Promise<Float32Array> {
  const [all] = await trainer.pass(scoringData(batchOf([row])), "cross_entropy", true);
  return all!.slice(row.from - row.tokens.length);
}

/** Datums whose targets have the weight 1. */
function weighted(rows: readonly Row[]): Datum[] {
  return scoringData(batchOf(rows)).map(({ model_input, loss_fn_inputs }) => {
    const weights = new Float32Array(loss_fn_inputs.target_tokens!.data.length).fill(1);
    weights.fill(0, 0, prompt.length - 1);
    return { model_input, loss_fn_inputs: { ...loss_fn_inputs, weights: floatTensor(weights) } };
  });
}
