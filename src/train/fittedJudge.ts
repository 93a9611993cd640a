/** A small judge in this process that is fitted to labels, or to the answers of another judge: logistic regression on the words of a reply. */
import { z } from "zod";
import { sigmoid } from "../common/statistics/logistic.ts";
import { counted } from "../common/text/counted.ts";
import { sha256 } from "../core/digest.ts";
import { WhetstoneError } from "../core/errors.ts";
import type { Able, Attempt, Evaluator } from "../core/evaluator.ts";
import type { Interval } from "../core/interval.ts";
import { clusteredShare } from "../evaluator/agreement.ts";
import { aspectJudge, rewardModelOf } from "../evaluator/aspectJudge.ts";
import { replyFeatures } from "../evaluator/bias.ts";
import { folds, foldsOf } from "../evaluator/correction.ts";
import { type JudgedItem, judgedTrajectory } from "../evaluator/judgedItem.ts";
import type { JudgedLabel } from "../evaluator/judgeTrial.ts";
import {
  aspectOf,
  groupOf,
  type Labels,
  labelsByAspect,
  type PairLabel,
  type ReplyLabel,
  repliesIn,
  saidBy,
} from "../evaluator/labels.ts";
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
  /** What it was fitted to; a judge of pairs orders the replies to one request, and its score means nothing by itself. */
  labels: z.enum(["pairs", "replies"]),
  /** Digests of those labels, by {@link digestOf}. */
  fittedTo: z.array(z.string()),
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
        weight: z.number().positive().max(1e6),
        /** Weights of logistic regression, by feature. */
        features: z.record(z.string(), z.number().min(-1e6).max(1e6)),
      }),
    )
    .nonempty()
    .refine((heads) => new Set(heads.map(({ name }) => name)).size === heads.length, "two heads of one name"),
});

/** A judge with one head for each aspect. Plain JSON. */
export type FittedJudge = z.output<typeof fittedJudgeSchema>;

/** A judge that was fitted to the answers of others. */
export interface Distilled {
  /** Fitted to all answers. */
  readonly judge: FittedJudge;
  /** Of each label, the answer of a judge that was fitted to other groups and other prompts. */
  readonly heldOut: readonly JudgedLabel[];
  /** Share of those labels with the choice that was fitted. */
  readonly agreement: Interval;
}

/** A reward model that was fitted to labels. */
export interface FittedToLabels {
  /** Fitted to all labels of its aspects. */
  readonly judge: FittedJudge;
  /** The labels of its aspects. */
  readonly labels: Labels;
  /** For each of these, what a model says that was fitted to other groups and other prompts. */
  readonly heldOut: readonly JudgedLabel[];
  /** Aspects that nothing could be fitted to. */
  readonly left: readonly { readonly aspect: string; readonly labels: number; readonly why: string }[];
}

/** After each of the fits. */
export type OnFit = (done: number, of: number) => Promise<void>;

const settings = { strength: 1e-3, passes: 300, learningRate: 0.05 };
const wordMark = "word ";

/** The same for labels of the same replies about the same aspect. */
export const digestOf = (label: PairLabel | ReplyLabel): string =>
  sha256(JSON.stringify([label.prompt, ...repliesIn(label), aspectOf(label)])).slice(0, 12);

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
 * Fits a judge with one head to the answers of a teacher, whatever the labels are about. Each label is also answered by a judge that was
 * fitted without its fifth of the groups and its fifth of the prompts; there is none where nothing is left to fit.
 * @param of names of the teachers. @throws WhetstoneError `option.range` for answers outside of 0 to 1, or as {@link requireEnough}.
 */
export async function distilled(
  labels: Labels,
  teacher: readonly JudgedLabel[],
  of: readonly string[],
  onFit?: OnFit,
): Promise<Distilled> {
  const taught = taughtBy(labels, teacher);
  const why = taught.some(({ y }) => y < 0 || y > 1) ? "some lie outside of 0 to 1" : whyUnfit(taught);
  if (why !== undefined) throw unfit("the judge's answers", why);
  const plan = planOf(taught);
  const { features, said } = await fitHead(taught, plan, counting(plan.cells.length + 1, onFit));
  const measured = taught.filter(({ at }) => said.has(at));
  return {
    judge: {
      ...{ kind: "fitted judge", labels: labels.kind, fittedTo: labels.labels.map(digestOf), of: [...of] },
      heads: [{ name: "score", labels: taught.length, weight: 1, features }],
    },
    heldOut: teacher.map((_, at) => answer(labels.kind, said.get(at))),
    agreement: clusteredShare(
      measured.map(({ at, y }) => Math.sign(said.get(at)!.value - 0.5) === Math.sign(y - 0.5)),
      measured.map(({ label }) => groupOf(label)),
    ),
  };
}

/**
 * Fits a reward model to what people said: a head for each aspect of the labels, which count equally in the score. It is measured as by
 * {@link distilled}. An aspect with labels of fewer than five groups or prompts, or with the same label each time, is left out.
 * @throws WhetstoneError `option.range` where no aspect is left.
 */
export async function fittedToLabels(labels: Labels, onFit?: OnFit): Promise<FittedToLabels> {
  const aspects = labelsByAspect(labels).map(({ aspect, some, places }) => {
    const taught = taughtByPeople(some);
    const allSame =
      some.kind === "pairs" ? taught.every(({ y }) => y === 0.5) : new Set(taught.map(({ y }) => y)).size < 2;
    const why = allSame ? "all say the same" : whyUnfit(taught);
    return { aspect, some, places, taught, why, plan: planOf(taught) };
  });
  const fitting = aspects.filter(({ why }) => why === undefined);
  const [none] = aspects;
  if (!none) throw unfit("no labels", "nothing to fit");
  if (fitting.length === 0) throw unfit(`labels about ${JSON.stringify(none.aspect)}`, none.why!);
  const fits = fitting.reduce((sum, { plan }) => sum + plan.cells.length + 1, 0);
  const count = counting(fits, onFit);
  const heads: FittedJudge["heads"][number][] = [];
  const said = new Map<number, Said>();
  for (const { aspect, places, taught, plan } of fitting) {
    const head = await fitHead(taught, plan, count);
    heads.push({ name: aspect, labels: taught.length, weight: 1, features: head.features });
    for (const [at, one] of head.said) said.set(places[at]!, one);
  }
  const kept = [...said.keys()].sort((a, b) => a - b);
  const [first, ...more] = heads;
  return {
    judge: {
      ...{ kind: "fitted judge", labels: labels.kind, fittedTo: labels.labels.map(digestOf), of: [] },
      heads: [first!, ...more],
    },
    labels: { kind: labels.kind, labels: kept.map((at) => labels.labels[at]!) } as Labels,
    heldOut: kept.map((at) => answer(labels.kind, said.get(at))),
    left: aspects.flatMap(({ aspect, places, why }) =>
      why === undefined ? [] : [{ aspect, labels: places.length, why }],
    ),
  };
}

/** A label with the answer that is fitted: the probability that reply a is better, or the score of the reply. */
interface Taught {
  /** Place among the labels. */
  readonly at: number;
  readonly label: PairLabel | ReplyLabel;
  readonly y: number;
}

/** What a judge said that was fitted to other labels. */
interface Said {
  readonly value: number;
  readonly ms: number;
}

function taughtBy(labels: Labels, teacher: readonly JudgedLabel[]): readonly Taught[] {
  return labels.labels.flatMap((label, at) => {
    const { forward, backward = forward } = teacher[at]!;
    if (forward.value === undefined || backward.value === undefined) return [];
    return [{ at, label, y: (forward.value + backward.value) / 2 }];
  });
}

const taughtByPeople = ({ labels }: Labels): readonly Taught[] =>
  labels.map((label, at) => ({ label, at, y: saidBy(label) }));

/** A fitted judge has no preference for a position: the answer is the same in both orders. */
function answer(kind: Labels["kind"], said: Said | undefined): JudgedLabel {
  const forward = said
    ? ({ outcome: "answered", ...said } as const)
    : ({ outcome: "not asked", ms: 0 } as const);
  return { forward, ...(kind === "pairs" && { backward: forward }), repeats: [] };
}

const keysOf = ({ label }: Taught) => ({ group: groupOf(label), prompt: label.prompt });

/** @throws WhetstoneError `option.range` for labels of fewer than five groups, or of fewer than five prompts. */
export function requireEnough(labels: Labels): void {
  const why = whyUnfit(taughtByPeople(labels));
  if (why !== undefined) throw unfit("labels", why);
}

/** Why labels cannot be fitted and measured; undefined where they can. */
function whyUnfit(taught: readonly Taught[]): string | undefined {
  for (const key of ["group", "prompt"] as const) {
    const found = new Set(taught.map((one) => keysOf(one)[key])).size;
    if (found < folds) return `they are of ${counted(found, key)}, and ${folds} are needed`;
  }
  return undefined;
}

const unfit = (what: string, why: string): WhetstoneError =>
  new WhetstoneError("option.range", {
    where: "labels",
    got: `${what}: ${why}`,
    expected: `good and bad ones, from 0 to 1, of ${folds} prompts and ${folds} groups or more (a group is what "group" says, such as a person; by default a prompt)`,
    fix: "Give more labels.",
  });

interface Plan {
  /** Of each label: its fold among the groups, and among the prompts. */
  readonly folds: readonly (readonly [group: number, prompt: number])[];
  /** The folds that occur together. */
  readonly cells: readonly (readonly [group: number, prompt: number])[];
}

/** Labels of one person and labels of one prompt depend on each other: what is measured shares neither with what is fitted. */
function planOf(taught: readonly Taught[]): Plan {
  const keys = taught.map(keysOf);
  const groups = foldsOf(keys.map(({ group }) => group));
  const prompts = foldsOf(keys.map(({ prompt }) => prompt));
  const both = groups.map((group, i) => [group, prompts[i]!] as const);
  return { folds: both, cells: [...new Map(both.map((cell) => [cell.join(), cell])).values()] };
}

/** Counts fits. */
function counting(of: number, onFit?: OnFit): () => Promise<void> {
  let done = 0;
  return async () => await onFit?.(++done, of);
}

/** One head, and what it says of labels that it was not fitted to, by their places. */
async function fitHead(
  taught: readonly Taught[],
  plan: Plan,
  fitted: () => Promise<void>,
): Promise<{ readonly features: Record<string, number>; readonly said: ReadonlyMap<number, Said> }> {
  const rows = taught.map(({ label, y }): LogisticRow => ({ x: featuresIn(label), y, weight: 1 }));
  const groups = taught.map((one) => keysOf(one).group);
  const fit = async (some: readonly number[]): Promise<LogisticWeights> => {
    const weights = fitLogistic(
      withoutLoneWords(some.map((i) => ({ row: rows[i]!, group: groups[i]! }))),
      new Map(),
      settings,
    );
    await fitted();
    return weights;
  };
  const said = new Map<number, Said>();
  const places = taught.map((_, i) => i);
  for (const [group, prompt] of plan.cells) {
    const isIn = (i: number) => [plan.folds[i]![0] === group, plan.folds[i]![1] === prompt] as const;
    const others = places.filter((i) => !isIn(i)[0] && !isIn(i)[1]);
    if (others.length === 0) continue;
    const weights = await fit(others);
    for (const i of places.filter((one) => isIn(one)[0] && isIn(one)[1])) {
      const began = performance.now();
      const value = sigmoid(oddsOf(weights, featuresIn(taught[i]!.label)));
      said.set(taught[i]!.at, { value, ms: performance.now() - began });
    }
  }
  return { features: Object.fromEntries(await fit(places)), said };
}

const featuresIn = (label: PairLabel | ReplyLabel): Features =>
  "reply" in label
    ? withIntercept(featuresOf(label.prompt, label.reply))
    : difference(featuresOf(label.prompt, label.a), featuresOf(label.prompt, label.b));

/** Leaves out words that only one group used: they say nothing about others. */
function withoutLoneWords(
  all: readonly { readonly row: LogisticRow; readonly group: string }[],
): readonly LogisticRow[] {
  const first = new Map<string, string>();
  const common = new Set<string>();
  for (const { group, row } of all) {
    for (const name of Object.keys(row.x)) {
      if (!first.has(name)) first.set(name, group);
      else if (first.get(name) !== group) common.add(name);
    }
  }
  const isKept = (name: string): boolean => !name.startsWith(wordMark) || common.has(name);
  return all.map(({ row }) => ({
    ...row,
    x: Object.fromEntries(Object.entries(row.x).filter(([name]) => isKept(name))),
  }));
}

/** A fitted judge as an evaluator, with its heads as {@link aspectJudge} puts them together. */
export function judgeFrom({ of, labels, heads }: FittedJudge): Able<"compare" | "score", JudgedItem> {
  const weights = heads.map(({ features }) => new Map(Object.entries(features)));
  const name = of.length > 0 ? `student of ${of.join(", ")}` : rewardModelOf(heads);
  return aspectJudge(name, labels, heads, async (items) =>
    items.map(({ asked, reply }) => {
      const x = withIntercept(featuresOf(asked, reply));
      return weights.map((one) => oddsOf(one, x));
    }),
  );
}

/** A judge of requests with their replies as one of attempts, for training. An attempt without an action has no score. */
export const ofAttempts = ({ name, score }: Evaluator<JudgedItem>): Able<"score", Attempt> => ({
  name,
  score: async (attempts, call) => {
    const items = attempts.flatMap(({ task, trajectory }) => judgedTrajectory(task, trajectory) ?? []);
    return items.length < attempts.length ? undefined : score?.(items, call);
  },
});
