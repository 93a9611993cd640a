/** A reward model on an engine: value heads, one for each aspect, read after a request and its reply. */
import { logSigmoid, sigmoid } from "../common/statistics/logistic.ts";
import { pack, pairRows } from "../common/tokens/pack.ts";
import { concatIds } from "../common/tokens/sequence.ts";
import type { Batch, Row } from "../core/batch.ts";
import { WhetstoneError } from "../core/errors.ts";
import type { Able } from "../core/evaluator.ts";
import type { Codec, Loss, Model } from "../core/model.ts";
import { randomStream, shuffled } from "../core/random.ts";
import type { Engine } from "../engine/engine.ts";
import { aspectJudge, rewardModelOf } from "../evaluator/aspectJudge.ts";
import type { JudgedItem } from "../evaluator/judgedItem.ts";
import {
  aspectOf,
  type Labels,
  type PairLabel,
  type ReplyLabel,
  repliesIn,
  saidBy,
} from "../evaluator/labels.ts";

/** Settings of {@link trainRewardHeads}. */
export interface RewardHeadsOptions {
  /** Whose model gets the heads: from random weights, or a pretrained one. Needs "heads" and "train". */
  readonly engine: Engine;
  /** Pairs or single replies; a head for each aspect. */
  readonly labels: Labels;
  readonly seed: number;
  /** Optimiser steps. */
  readonly steps: number;
  /** Replies, or pairs of them, of each step. Default 32. */
  readonly batch?: number;
  /** Step size at the beginning; it falls linearly to 0. Default: the engine's. */
  readonly learningRate?: number;
  /** Longest request with its reply, in tokens. Longer ones are left out. Default 512. */
  readonly contextTokens?: number;
  /** After each step, with its mean loss in nats. */
  readonly onStep?: (step: number, loss: number) => void;
  readonly stop?: AbortSignal;
}

/** What training came to. The model is the caller's to save and to dispose of. */
export interface RewardHeads {
  readonly model: Model;
  /** Its heads. */
  readonly heads: readonly string[];
  /** What they were trained on. */
  readonly labels: Labels["kind"];
  /** Labelled replies or pairs that were too long. */
  readonly left: number;
}

/** What was said of one request with one reply, or with two: by aspect, how many labels find the first one good, or better, of how many. */
interface Example {
  readonly rows: readonly Int32Array[];
  readonly said: ReadonlyMap<string, { readonly y: number; readonly n: number }>;
}

const signs = [1, -1] as const;
const labelOf = (head: string): string => `label ${head}`;
const weightOf = (head: string): string => `weight ${head}`;

/**
 * Minimises, with a head V_h for each aspect h, the mean over all labels of
 *
 *     −y ln σ(Δ) − (1 − y) ln σ(−Δ)      Δ = V_h(request, a) − V_h(request, b) for pairs, V_h(request, reply) for single replies
 *
 * The heads read the model after the reply's last token. The distribution over tokens is not trained. Steps take replies, or pairs of
 * them, with all that was said of them, in an order that is drawn anew for each pass.
 * Papers: "Training language models to follow instructions with human feedback" (equation 1); several heads on one model:
 * "Interpretable Preferences via Multi-Objective Reward Modeling and Mixture-of-Experts".
 * @throws WhetstoneError `option.range` where all labels are too long, or a step would take none.
 */
export async function trainRewardHeads(options: RewardHeadsOptions): Promise<RewardHeads> {
  const { engine, labels, seed, steps, batch: size = 32, contextTokens = 512, onStep, stop } = options;
  const { learningRate = engine.learningRate ?? 1e-3 } = options;
  const random = randomStream(seed);
  const heads = [...new Set(labels.labels.map(aspectOf))];
  if (size < 1) throw nothingToFit(`a batch of ${size}`);
  const vocabulary = labels.labels.flatMap((label) => [label.prompt, ...repliesIn(label)]);
  const model = await engine.create({
    ...{ id: "reward", seed: random.split("weights").seed, contextTokens, heads },
    vocabulary: [...new Set(vocabulary)],
  });
  try {
    const all = examplesOf(labels, model.codec);
    const examples = all.filter(({ rows }) => rows.every((row) => row.length <= model.contextTokens));
    if (examples.length === 0)
      throw nothingToFit(`${all.length} replies or pairs, all longer than ${model.contextTokens} tokens`);
    const loss = rewardLoss(heads);
    let order: readonly Example[] = [];
    for (let step = 0, epoch = 0; step < steps; step++) {
      stop?.throwIfAborted();
      if (order.length === 0) order = shuffled(examples, random.split("epoch", epoch++));
      const stats = await model.accumulate(batchFrom(order.slice(0, size)), loss, undefined);
      order = order.slice(size);
      await model.step({ learningRate: learningRate * (1 - step / steps), clip: 1 });
      onStep?.(step, stats.loss!);
    }
    return { model, heads, labels: labels.kind, left: all.length - examples.length };
  } catch (e) {
    await model.dispose();
    throw e;
  }
}

const nothingToFit = (got: string): WhetstoneError =>
  new WhetstoneError("option.range", {
    where: "trainRewardHeads",
    got,
    expected: "labels that fit into the context, and one or more in a step",
    fix: "Raise contextTokens, or give other labels.",
  });

/** Labels by what they are about; those of several people are averaged. */
function examplesOf({ labels }: Labels, codec: Codec): readonly Example[] {
  const found = Map.groupBy<string, PairLabel | ReplyLabel>(labels, (label) =>
    JSON.stringify([label.prompt, ...repliesIn(label)]),
  );
  return [...found.values()].map((same) => ({
    rows: repliesIn(same[0]!).map((reply) => tokensOf(codec, same[0]!.prompt, reply)),
    said: new Map(
      [...Map.groupBy(same, aspectOf)].map(([aspect, some]) => [
        aspect,
        { y: some.reduce((sum, label) => sum + saidBy(label), 0) / some.length, n: some.length },
      ]),
    ),
  }));
}

/** The request, the reply and the end token, before which the heads are read. */
const tokensOf = (codec: Codec, asked: string, reply: string): Int32Array =>
  concatIds([
    codec.open([{ role: "user", content: asked }]),
    codec.encode(reply),
    Int32Array.of(codec.endId),
  ]);

function batchFrom(examples: readonly Example[]): Batch {
  const counts = examples.flatMap(({ said }) => [...said.values()]);
  const labelled = counts.reduce((sum, { n }) => sum + n, 0);
  const one = (x: number): Float32Array => Float32Array.of(x);
  const rows = examples.flatMap(({ rows, said }, at) =>
    rows.map((tokens, side): Row => {
      const id = `${at}`;
      return {
        info: {
          ...{ trajectory: `${at}/${side}`, task: id, unit: id, group: id, role: "agent", model: "reward" },
          ...{ version: "labelled", origin: "logged", context: "sampled", from: 0 },
        },
        tokens,
        targets: Int32Array.of(tokens.length - 1),
        turn: Int32Array.of(0),
        logp: one(Number.NaN),
        behaviour: one(Number.NaN),
        advantage: one(0),
        weight: one(1),
        columns: {
          sign: one(signs[side]!),
          ...Object.fromEntries(
            [...said].flatMap(([aspect, { y, n }]) => [
              [labelOf(aspect), one(y)],
              [weightOf(aspect), one(n / labelled)],
            ]),
          ),
        },
      };
    }),
  );
  const units = examples.map(({ rows }, at) => ({
    id: `${at}`,
    group: `${at}`,
    members: rows.map((_, side) => `${at}/${side}`),
  }));
  return pack(rows, units);
}

/** The loss of {@link trainRewardHeads}: each row has one target, and the rows of a pair form a group. */
const rewardLoss = (heads: readonly string[]): Loss<undefined> => ({
  name: "rewardHeads",
  together: "group",
  wants: () => ({ heads }),
  evaluate: ({ heads: value }, batch) => {
    const groups = [...Map.groupBy(batch.rows.keys(), (r) => batch.rows[r]!.group).values()];
    const { sign } = batch.columns;
    let total = 0;
    const cotangents = heads.map((head) => {
      const value_A = value[head]!;
      const [label_A, weight_A] = [batch.columns[labelOf(head)], batch.columns[weightOf(head)]];
      const cotangent_A = new Float32Array(value_A.length);
      for (const rows of groups) {
        const y = label_A?.[rows[0]!] ?? Number.NaN;
        if (Number.isNaN(y)) continue;
        const weight = weight_A![rows[0]!]!;
        const ahead = rows.reduce((sum, r) => sum + sign![r]! * value_A[r]!, 0);
        total -= weight * (y * logSigmoid(ahead) + (1 - y) * logSigmoid(-ahead));
        for (const r of rows) cotangent_A[r] = weight * sign![r]! * (sigmoid(ahead) - y);
      }
      return [head, cotangent_A] as const;
    });
    return { loss: total, cotangents: { heads: Object.fromEntries(cotangents) }, stats: { loss: total } };
  },
});

/**
 * The heads as an evaluator, which count equally, as {@link aspectJudge} puts them together. No answer about items one of which is too long
 * for the model.
 */
export const headsJudge = (
  model: Pick<Model, "score" | "codec" | "contextTokens">,
  { heads, labels }: Pick<RewardHeads, "heads" | "labels">,
): Able<"compare" | "score", JudgedItem> => {
  const aspects = heads.map((name) => ({ name, weight: 1 }));
  return aspectJudge(rewardModelOf(aspects), labels, aspects, async (items) => {
    const rows = items.map(({ asked, reply }) => tokensOf(model.codec, asked, reply));
    if (rows.some((row) => row.length > model.contextTokens)) return undefined;
    const pairs = rows.map((row) => ({ prompt: row.subarray(0, -1), target: row.subarray(-1) }));
    const { heads: found } = await model.score(pairRows(pairs), { heads });
    return items.map((_, i) => heads.map((head) => found[head]![i]!));
  });
};
