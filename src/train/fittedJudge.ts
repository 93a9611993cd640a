/** A small judge in this process that is fitted to labels, or to the answers of another judge: logistic regression on the words of a reply. */
import { z } from "zod";
import { sigmoid } from "../common/statistics/logistic.ts";
import { WhetstoneError } from "../core/errors.ts";
import type { Able, Attempt, Evaluator } from "../core/evaluator.ts";
import type { Interval } from "../core/interval.ts";
import { clusteredShare } from "../evaluator/agreement.ts";
import { replyFeatures } from "../evaluator/bias.ts";
import { type JudgedItem, judgedTrajectory } from "../evaluator/judgedItem.ts";
import type { JudgedLabel } from "../evaluator/judgeTrial.ts";
import { groupOf, type Labels, labelsByAspect } from "../evaluator/labels.ts";
import { difference } from "../helper/bradleyTerry.ts";
import {
  fitLogistic,
  type LogisticRow,
  type LogisticWeights,
  oddsOf,
  withIntercept,
} from "../helper/logisticRegression.ts";
import type { Features } from "../helper/ridge.ts";

/** Schema of a fitted judge as JSON. */
export const fittedJudgeSchema = z.object({
  kind: z.literal("fitted judge"),
  /** What it was fitted to; a judge of pairs scores only differences. */
  labels: z.enum(["pairs", "replies"]),
  /** Names of its teachers; none where it was fitted to the labels of people. */
  of: z.array(z.string()),
  heads: z
    .array(
      z.object({
        /** The aspect that it judges. */
        name: z.string().min(1),
        /** Number of labels that it was fitted to. */
        labels: z.int().positive(),
        /** Its part of the score, relative to the others. */
        weight: z.number().positive(),
        /** Weights of logistic regression, by feature. */
        features: z.record(z.string(), z.number()),
      }),
    )
    .nonempty()
    .refine((heads) => new Set(heads.map(({ name }) => name)).size === heads.length, "two heads of one name"),
});

/** A judge with one head for each aspect. Plain JSON. */
export type FittedJudge = z.output<typeof fittedJudgeSchema>;

/** What fitting came to. */
export interface Fitted {
  /** Fitted to all answers. */
  readonly judge: FittedJudge;
  /** Of each label with an answer, that of a judge that was fitted without the label's group. */
  readonly heldOut: readonly JudgedLabel[];
  /** Share of those labels with the choice that was fitted. */
  readonly agreement: Interval;
}

/** A label with the answer that is fitted: the probability that reply a is better, or the score of the reply. */
interface Taught {
  /** Place among the labels. */
  readonly at: number;
  readonly group: string;
  readonly row: LogisticRow;
}

const folds = 5;
const settings = { strength: 1e-3, passes: 300, learningRate: 0.05 };
const wordMark = "word ";

/** The words of a reply, whether the request has them too, its length, its markup and its sources. */
export function featuresOf(asked: string, reply: string): Features {
  const words = (text: string): ReadonlySet<string> =>
    new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []);
  const [request, own] = [words(asked), words(reply)];
  const shared = [...own].filter((word) => request.has(word)).length;
  // prefixed, so that no word is the name of another feature or of a property of objects
  return Object.fromEntries([
    ...[...own].map((word) => [`${wordMark}${word}`, 1] as const),
    ["shared words", own.size === 0 ? 0 : shared / own.size] as const,
    ...replyFeatures.map(({ name, of }) => [name, name === "length" ? of(reply) / 10 : of(reply)] as const),
  ]);
}

/**
 * Fits a judge with one head to the answers of a teacher, and measures it on labels that it was not fitted to: five times, each
 * time without a fifth of the groups.
 * @param of names of the teachers. @throws WhetstoneError `option.range` for answers outside of 0 to 1, or of fewer than five groups.
 */
export function distilled(labels: Labels, teacher: readonly JudgedLabel[], of: readonly string[]): Fitted {
  const { features, ...measured } = fitHead(labels, teacher, { where: "--distil", about: "" });
  const head = { name: "score", labels: measured.agreement.n, weight: 1, features };
  return { judge: { kind: "fitted judge", labels: labels.kind, of: [...of], heads: [head] }, ...measured };
}

/**
 * Fits a reward model to what people said: a head for each aspect of the labels, which count equally in the score. It is measured on
 * labels that it was not fitted to, as by {@link distilled}.
 * @param onHead after each head.
 * @throws WhetstoneError `option.range` for an aspect with labels of fewer than five groups, or with the same label each time.
 */
export async function fittedToLabels(labels: Labels, onHead?: () => Promise<void>): Promise<Fitted> {
  const heldOut: JudgedLabel[] = [];
  const heads: FittedJudge["heads"][number][] = [];
  for (const { aspect, some, places } of labelsByAspect(labels)) {
    requireBoth(some, aspect);
    const head = fitHead(some, saidByPeople(some), {
      where: "--fit",
      about: ` about ${JSON.stringify(aspect)}`,
    });
    heads.push({ name: aspect, labels: places.length, weight: 1, features: head.features });
    for (const [i, at] of places.entries()) heldOut[at] = head.heldOut[i]!;
    await onHead?.();
  }
  const [first, ...more] = heads;
  const all = taughtBy(labels, saidByPeople(labels));
  return {
    judge: { kind: "fitted judge", labels: labels.kind, of: [], heads: [first!, ...more] },
    heldOut,
    agreement: agreementOf(all, heldOut),
  };
}

/** @throws WhetstoneError `option.range` where replies are all good or all bad: a model of them would say the same of every reply. */
function requireBoth(labels: Labels, aspect: string): void {
  if (labels.kind === "pairs" || new Set(labels.labels.map(({ label }) => label)).size > 1) return;
  throw new WhetstoneError("option.range", {
    where: "--fit",
    got: `labels about ${JSON.stringify(aspect)} that are all ${labels.labels[0]!.label}`,
    expected: "good and bad replies",
    fix: "Give labels of both, or leave this aspect out.",
  });
}

/** Labels as the answers of a judge that is always right. */
const saidByPeople = (labels: Labels): readonly JudgedLabel[] => {
  const said = (value: number) => ({ outcome: "answered", value, ms: 0 }) as const;
  if (labels.kind === "replies")
    return labels.labels.map(({ label }) => ({ forward: said(label), repeats: [] }));
  return labels.labels.map(({ preferred }) => {
    const value = said({ a: 1, b: 0, tie: 0.5 }[preferred]);
    return { forward: value, backward: value, repeats: [] };
  });
};

const agreementOf = (taught: readonly Taught[], heldOut: readonly JudgedLabel[]): Interval =>
  clusteredShare(
    taught.map(({ at, row }) => Math.sign(heldOut[at]!.forward.value! - 0.5) === Math.sign(row.y - 0.5)),
    taught.map(({ group }) => group),
  );

/** One head, and what it says of labels of groups that it was not fitted to. */
function fitHead(
  labels: Labels,
  teacher: readonly JudgedLabel[],
  { where, about }: { readonly where: string; readonly about: string },
): Omit<Fitted, "judge"> & { readonly features: Record<string, number> } {
  const taught = withoutLoneWords(taughtBy(labels, teacher));
  const groups = [...new Set(taught.map(({ group }) => group))];
  if (groups.length < folds || taught.some(({ row }) => row.y < 0 || row.y > 1)) {
    throw new WhetstoneError("option.range", {
      where,
      got: groups.length < folds ? `labels of ${groups.length} groups${about}` : "scores outside of 0 to 1",
      expected: `answers from 0 to 1, on labels of ${folds} groups or more`,
      fix: "Give more labels, or put the scores on that scale.",
    });
  }
  const fold = new Map(groups.map((group, i) => [group, i % folds]));
  const fit = (some: readonly Taught[]): LogisticWeights =>
    fitLogistic(
      some.map(({ row }) => row),
      new Map(),
      settings,
    );
  const fitted = Array.from({ length: folds }, (_, own) =>
    fit(taught.filter(({ group }) => fold.get(group) !== own)),
  );
  const said = new Map(
    taught.map(({ at, group, row }) => {
      const began = performance.now();
      const value = sigmoid(oddsOf(fitted[fold.get(group)!]!, row.x));
      return [at, { outcome: "answered", value, ms: performance.now() - began } as const];
    }),
  );
  const unasked = { outcome: "not asked", ms: 0 } as const;
  // a fitted judge has no preference for a position: the answer is the same in both orders
  const heldOut = teacher.map((_, at): JudgedLabel => {
    const forward = said.get(at) ?? unasked;
    return { forward, ...(labels.kind === "pairs" && { backward: forward }), repeats: [] };
  });
  return { features: Object.fromEntries(fit(taught)), heldOut, agreement: agreementOf(taught, heldOut) };
}

function taughtBy(labels: Labels, teacher: readonly JudgedLabel[]): readonly Taught[] {
  if (labels.kind === "pairs") {
    return labels.labels.flatMap((label, at) => {
      const [forward, backward] = [teacher[at]!.forward.value, teacher[at]!.backward?.value];
      if (forward === undefined || backward === undefined) return [];
      const x = difference(featuresOf(label.prompt, label.a), featuresOf(label.prompt, label.b));
      return [{ at, group: groupOf(label), row: { x, y: (forward + backward) / 2, weight: 1 } }];
    });
  }
  return labels.labels.flatMap((label, at) => {
    const y = teacher[at]!.forward.value;
    if (y === undefined) return [];
    const x = withIntercept(featuresOf(label.prompt, label.reply));
    return [{ at, group: groupOf(label), row: { x, y, weight: 1 } }];
  });
}

/** Leaves out words of one group alone: they say nothing about others, and a file should not hold one person's words. */
function withoutLoneWords(taught: readonly Taught[]): readonly Taught[] {
  const first = new Map<string, string>();
  const common = new Set<string>();
  for (const { group, row } of taught) {
    for (const name of Object.keys(row.x)) {
      if (!first.has(name)) first.set(name, group);
      else if (first.get(name) !== group) common.add(name);
    }
  }
  return taught.map((one) => ({
    ...one,
    row: {
      ...one.row,
      x: Object.fromEntries(
        Object.entries(one.row.x).filter(([name]) => !name.startsWith(wordMark) || common.has(name)),
      ),
    },
  }));
}

/**
 * A fitted judge as an evaluator. It scores each aspect: the head's probability, times its part of the score, so that they add up to a
 * number from 0 to 1. One that was fitted to pairs orders the replies to one request; ½ means nothing by itself there.
 */
export function judgeFrom({ of, heads }: FittedJudge): Able<"compare" | "score", JudgedItem> {
  const total = heads.reduce((sum, { weight }) => sum + weight, 0);
  const parts = heads.map(({ name, weight, features }) => ({
    name,
    part: weight / total,
    weights: new Map(Object.entries(features)),
  }));
  const xOf = ({ asked, reply }: JudgedItem): Features => withIntercept(featuresOf(asked, reply));
  return {
    name:
      of.length > 0
        ? `student of ${of.join(", ")}`
        : `reward model of ${heads.map(({ name }) => name).join(", ")}`,
    compare: async (first, second) => {
      const [a, b] = [xOf(first), xOf(second)];
      return parts.reduce(
        (sum, { part, weights }) => sum + part * sigmoid(oddsOf(weights, a) - oddsOf(weights, b)),
        0,
      );
    },
    score: async (items) =>
      items.map((item) => {
        const x = xOf(item);
        return Object.fromEntries(
          parts.map(({ name, part, weights }) => [name, part * sigmoid(oddsOf(weights, x))]),
        );
      }),
  };
}

/** A judge of requests with their replies as one of attempts, for training. An attempt without an action has no score. */
export const ofAttempts = ({ name, score }: Evaluator<JudgedItem>): Able<"score", Attempt> => ({
  name,
  score: async (attempts, call) => {
    const items = attempts.flatMap(({ task, trajectory }) => judgedTrajectory(task, trajectory) ?? []);
    return items.length < attempts.length ? undefined : score?.(items, call);
  },
});
