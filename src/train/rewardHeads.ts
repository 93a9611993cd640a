/** A reward model on an engine: value heads, one for each aspect, read after a request and its reply. */
import { logSigmoid, sigmoid } from "../common/statistics/logistic.ts";
import { pack, pairRows } from "../common/tokens/pack.ts";
import { concatIds } from "../common/tokens/sequence.ts";
import type { Batch, Row } from "../core/batch.ts";
import type { Able } from "../core/evaluator.ts";
import type { Codec, Loss, Model } from "../core/model.ts";
import { randomStream, shuffled } from "../core/random.ts";
import type { Stats } from "../core/types.ts";
import type { Engine } from "../engine/engine.ts";
import type { JudgedItem } from "../evaluator/judgedItem.ts";
import { aspectOf, type Labels } from "../evaluator/labels.ts";

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
  /** Its heads, in the order of {@link headsJudge}. */
  readonly heads: readonly string[];
  /** Labelled replies or pairs that were too long. */
  readonly left: number;
}

/** What was said of one request with one reply, or with two: by aspect, the share of labels that find the first one good, or better. */
interface Example {
  readonly rows: readonly Int32Array[];
  readonly said: ReadonlyMap<string, number>;
}

const signs = [1, -1] as const;
const columnOf = (head: string): string => `label ${head}`;

/**
 * Minimises, with a head V_h for each aspect h, the mean over all labels of
 *
 *     −y ln σ(Δ) − (1 − y) ln σ(−Δ)      Δ = V_h(request, a) − V_h(request, b) for pairs, V_h(request, reply) for single replies
 *
 * The heads read the model after the reply's last token. The distribution over tokens is not trained.
 * Papers: "Training language models to follow instructions with human feedback" (equation 1); several heads on one model:
 * "Interpretable Preferences via Multi-Objective Reward Modeling and Mixture-of-Experts".
 */
export async function trainRewardHeads(options: RewardHeadsOptions): Promise<RewardHeads> {
  const { engine, labels, seed, steps, batch: size = 32, contextTokens = 512, onStep, stop } = options;
  const { learningRate = engine.learningRate ?? 1e-3 } = options;
  const random = randomStream(seed);
  const heads = [...new Set(labels.labels.map(aspectOf))];
  const vocabulary =
    labels.kind === "pairs"
      ? labels.labels.flatMap(({ prompt, a, b }) => [prompt, a, b])
      : labels.labels.flatMap(({ prompt, reply }) => [prompt, reply]);
  const model = await engine.create({
    ...{ id: "reward", seed: random.split("weights").seed, contextTokens, heads },
    vocabulary: [...new Set(vocabulary)],
  });
  try {
    const all = examplesOf(labels, model.codec);
    const examples = all.filter(({ rows }) => rows.every((row) => row.length <= model.contextTokens));
    const loss = rewardLoss(heads);
    let order: readonly Example[] = [];
    for (let step = 0, epoch = 0; step < steps && examples.length > 0; step++) {
      stop?.throwIfAborted();
      if (order.length === 0) order = shuffled(examples, random.split("epoch", epoch++));
      const stats = await model.accumulate(batchFrom(order.slice(0, size)), loss, undefined);
      order = order.slice(size);
      await model.step({ learningRate: learningRate * (1 - step / steps), clip: 1 });
      onStep?.(step, stats.loss!);
    }
    return { model, heads, left: all.length - examples.length };
  } catch (e) {
    await model.dispose();
    throw e;
  }
}

/** Labels by what they are about; those of several people are averaged. */
function examplesOf(labels: Labels, codec: Codec): readonly Example[] {
  const found = new Map<string, { rows: readonly Int32Array[]; said: Map<string, number[]> }>();
  const add = (prompt: string, replies: readonly string[], aspect: string, y: number): void => {
    const key = JSON.stringify([prompt, ...replies]);
    const one = found.get(key) ?? {
      rows: replies.map((reply) => tokensOf(codec, prompt, reply)),
      said: new Map(),
    };
    found.set(key, one);
    one.said.set(aspect, [...(one.said.get(aspect) ?? []), y]);
  };
  if (labels.kind === "pairs") {
    for (const label of labels.labels)
      add(label.prompt, [label.a, label.b], aspectOf(label), { a: 1, b: 0, tie: 0.5 }[label.preferred]);
  } else for (const label of labels.labels) add(label.prompt, [label.reply], aspectOf(label), label.label);
  return [...found.values()].map(({ rows, said }) => ({
    rows,
    said: new Map([...said].map(([aspect, ys]) => [aspect, ys.reduce((a, b) => a + b, 0) / ys.length])),
  }));
}

/** The request, the reply and the end token, at which the heads are read. */
const tokensOf = (codec: Codec, asked: string, reply: string): Int32Array =>
  concatIds([
    codec.open([{ role: "user", content: asked }]),
    codec.encode(reply),
    Int32Array.of(codec.endId),
  ]);

function batchFrom(examples: readonly Example[]): Batch {
  const labelled = examples.reduce((sum, { said }) => sum + said.size, 0);
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
        weight: one(1 / labelled),
        columns: {
          sign: one(signs[side]!),
          ...Object.fromEntries([...said].map(([aspect, y]) => [columnOf(aspect), one(y)])),
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
    const pairs = [...Map.groupBy(batch.rows.keys(), (r) => batch.rows[r]!.group).values()];
    const { sign } = batch.columns;
    const cotangents: Record<string, Float32Array> = {};
    let total = 0;
    for (const head of heads) {
      const [value_A, label_A] = [value[head]!, batch.columns[columnOf(head)]];
      const cotangent_A = new Float32Array(value_A.length);
      cotangents[head] = cotangent_A;
      for (const rows of pairs) {
        const y = label_A?.[rows[0]!] ?? Number.NaN;
        if (Number.isNaN(y)) continue;
        const weight = batch.weight_A[rows[0]!]!;
        const ahead = rows.reduce((sum, r) => sum + sign![r]! * value_A[r]!, 0);
        total -= weight * (y * logSigmoid(ahead) + (1 - y) * logSigmoid(-ahead));
        for (const r of rows) cotangent_A[r] = weight * sign![r]! * (sigmoid(ahead) - y);
      }
    }
    return { loss: total, cotangents: { heads: cotangents }, stats: { loss: total } };
  },
});

/**
 * The heads as an evaluator, which count equally: its scores are σ(V_h) / (number of heads), so that they add up to a number from 0 to 1,
 * and it compares by the mean of σ(V_h(first) − V_h(second)). No answer where a request with its reply is too long for the model.
 */
export function headsJudge(
  model: Pick<Model, "score" | "codec" | "contextTokens">,
  heads: readonly string[],
): Able<"compare" | "score", JudgedItem> {
  async function values(items: readonly JudgedItem[]): Promise<readonly Stats[] | undefined> {
    const rows = items.map(({ asked, reply }) => tokensOf(model.codec, asked, reply));
    if (rows.some((row) => row.length > model.contextTokens)) return undefined;
    const pairs = rows.map((row) => ({ prompt: row.subarray(0, -1), target: row.subarray(-1) }));
    const { heads: found } = await model.score(pairRows(pairs), { heads });
    return items.map((_, i) => Object.fromEntries(heads.map((head) => [head, found[head]![i]!])));
  }
  return {
    name: `reward model of ${heads.join(", ")}`,
    score: async (items) =>
      (await values(items))?.map((one) =>
        Object.fromEntries(heads.map((head) => [head, sigmoid(one[head]!) / heads.length])),
      ),
    compare: async (first, second) => {
      const found = await values([first, second]);
      if (!found) return undefined;
      const [a, b] = found as [Stats, Stats];
      return heads.reduce((sum, head) => sum + sigmoid(a[head]! - b[head]!) / heads.length, 0);
    },
  };
}
