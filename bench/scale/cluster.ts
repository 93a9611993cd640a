/** A cluster and its work in seconds and bytes, from a model's sizes, a GPU's data sheet and a few stated shares. */

import type { TokenRows } from "../../src/core/batch.ts";
import { carrierData } from "../../src/engine/tinker/datum.ts";
import { writePass } from "../../src/engine/tinker/protobuf.ts";
import type { Cluster } from "./simulate.ts";

/** Assumed, and to be replaced by what you have. */
export const assumed = {
  /** A dense model of 8 billion weights in 16 bits: Qwen3-8B's shape. */
  parameters: 8e9,
  layers: 36,
  width: 4096,
  keyValueWidth: 1024,
  feedForward: 12288,
  rank: 32,
  gpusPerNode: 8,
  /** H100 SXM, data sheet: bytes and operations (dense, 16 bits) a second. */
  bandwidth: 3.35e12,
  operations: 989e12,
  /** Shares of these that decoding and training reach. */
  decoding: 0.6,
  training: 0.35,
  /** Sequences that a GPU writes side by side, at the pace of its memory. */
  sequences: 64,
  /** Bytes a second between nodes, and between the client and the cluster. */
  network: 12.5e9,
  uplink: 125e6,
  /** Dollars for an hour of a GPU. */
  price: 2.5,
  episodes: 1024,
  /** Tokens that are written in an episode, in the mean; and those that are read beside them. */
  written: 4000,
  read: 2000,
  /** Seconds that tools and environments take in an episode. */
  environment: 20,
  /** Seconds of a call over the API, there and back, and calls one after the other in an iteration. */
  call: 0.05,
  calls: 6,
} as const;

export interface Plan {
  readonly cluster: Cluster;
  /** Seconds for a token of each of a GPU's sequences. */
  readonly tokenSeconds: number;
  /** Seconds of an episode in the mean. */
  readonly episode: number;
  readonly adapterParameters: number;
  /** Of an iteration. */
  readonly bytes: {
    /** The adapter once; every sampling node gets one. */
    readonly adapter: number;
    /** Client to trainers and back: rows, advantages, log-probabilities. */
    readonly passes: number;
    /** Client to samplers and back: prompts, tokens, log-probabilities. */
    readonly samples: number;
  };
}

/** @param trainers nodes that train; all others sample. */
export function planOf({ nodes, trainers }: { readonly nodes: number; readonly trainers: number }): Plan {
  const a = assumed;
  const tokenSeconds = (2 * a.parameters) / (a.decoding * a.bandwidth);
  const episode = a.written * tokenSeconds + a.environment;
  const tokens = a.episodes * (a.written + a.read);
  // LoRA leaves the weights' own gradients out: 2 operations forward and 2 backward for each weight and token, and 2 for the
  // pass that scores; the importance weights take another forward pass
  const operations = (4 + 2 + 2) * a.parameters * tokens;
  const passes = operations / (trainers * a.gpusPerNode * a.training * a.operations);
  const attention = 2 * (a.width + a.width) + 2 * (a.width + a.keyValueWidth);
  const mlp = 3 * (a.width + a.feedForward);
  const adapterParameters = a.rank * a.layers * (attention + mlp);
  const adapter = 4 * adapterParameters;
  const perRow = passBytes(a.written + a.read);
  const bytes = {
    adapter,
    // each pass is answered with 4 bytes a token; three passes
    passes: a.episodes * (2 * perRow.scoring + perRow.carrier + 3 * 4 * (a.written + a.read)),
    // a token with its log-probability comes back in 8 bytes, a token of a prompt goes out in about 6 of JSON
    samples: a.episodes * (8 * a.written + 6 * a.read),
  };
  const upload = (bytes.passes + bytes.samples) / a.uplink;
  const samplers = nodes - trainers;
  return {
    tokenSeconds,
    episode,
    adapterParameters,
    bytes,
    cluster: {
      slots: samplers * a.gpusPerNode * a.sequences,
      learning: passes + upload + a.calls * a.call,
      // handed on from node to node in a tree
      handing: (adapter / a.network) * Math.ceil(Math.log2(samplers + 1)) + a.call,
    },
  };
}

/** Bytes of one row in the messages that our client writes, so many tokens long. */
export function passBytes(tokens: number): { readonly scoring: number; readonly carrier: number } {
  const row: TokenRows = {
    tokens_N: new Int32Array(tokens).fill(50_000),
    rowOffset: Int32Array.of(0, tokens),
    target_A: Int32Array.from({ length: tokens - 1 }, (_, i) => i + 1),
    targetOffset: Int32Array.of(0, tokens - 1),
  };
  const some = new Float32Array(tokens - 1).fill(0.5);
  const data = carrierData(row, some, some, "sum", 1);
  const pass = (loss_fn: string, part: typeof data) =>
    writePass({ model_id: "m", seq_id: 1, data: part, loss_fn, loss_fn_config: {}, forward_only: false })
      .length;
  const scoring = data.map(({ model_input, loss_fn_inputs: { target_tokens, advantages } }) => ({
    model_input,
    loss_fn_inputs: { target_tokens: target_tokens!, weights: advantages! },
  }));
  return { scoring: pass("cross_entropy", scoring), carrier: pass("importance_sampling", data) };
}
