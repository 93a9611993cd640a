/** A small judge in this process that is fitted to the answers of another one: logistic regression on the words of a reply. */
import { resolve } from "node:path";
import { z } from "zod";
import { replaceFile } from "../common/files/files.ts";
import { sigmoid } from "../common/statistics/logistic.ts";
import { WhetstoneError } from "../core/errors.ts";
import type { Able } from "../core/evaluator.ts";
import type { Interval } from "../core/interval.ts";
import { clusteredShare } from "../evaluator/agreement.ts";
import { replyFeatures } from "../evaluator/bias.ts";
import type { JudgedItem } from "../evaluator/judgedItem.ts";
import type { JudgedLabel } from "../evaluator/judgeTrial.ts";
import { groupOf, type Labels } from "../evaluator/labels.ts";
import { difference } from "../helper/bradleyTerry.ts";
import {
  fitLogistic,
  type LogisticRow,
  type LogisticWeights,
  oddsOf,
  withIntercept,
} from "../helper/logisticRegression.ts";
import type { Features } from "../helper/ridge.ts";
import { readJsonFile } from "./jsonFile.ts";

/** A label with the answer of the teacher: the probability that reply a is better, or the score of the reply. */
interface Taught {
  /** Place among the labels. */
  readonly at: number;
  readonly group: string;
  readonly row: LogisticRow;
}

/** A judge that was fitted to another one. */
export interface Distilled {
  /** Fitted to all answers. */
  readonly weights: LogisticWeights;
  /** Of each label that the teacher answered, the answer of a student that was fitted without the label's group. */
  readonly heldOut: readonly JudgedLabel[];
  /** Share of those labels with the choice of the teacher. */
  readonly agreement: Interval;
}

const folds = 5;
const settings = { strength: 1e-3, passes: 300, learningRate: 0.05 };

/** The words of a reply, whether the request has them too, its length, its markup and its sources. */
export function featuresOf(asked: string, reply: string): Features {
  const words = (text: string): ReadonlySet<string> =>
    new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []);
  const [request, own] = [words(asked), words(reply)];
  const shared = [...own].filter((word) => request.has(word)).length;
  // prefixed, so that no word is the name of another feature or of a property of objects
  return Object.fromEntries([
    ...[...own].map((word) => [`word ${word}`, 1] as const),
    ["shared words", own.size === 0 ? 0 : shared / own.size] as const,
    ...replyFeatures.map(({ name, of }) => [name, name === "length" ? of(reply) / 10 : of(reply)] as const),
  ]);
}

/**
 * Fits a student to the answers of a teacher, and measures it on labels that it was not fitted to: five times, each time without
 * a fifth of the groups.
 * @throws WhetstoneError `option.range` for answers outside of 0 to 1, or of fewer than five groups.
 */
export function distil(labels: Labels, teacher: readonly JudgedLabel[]): Distilled {
  const taught = taughtBy(labels, teacher);
  const groups = [...new Set(taught.map(({ group }) => group))];
  if (groups.length < folds || taught.some(({ row }) => row.y < 0 || row.y > 1)) {
    throw new WhetstoneError("option.range", {
      where: "--distil",
      got:
        groups.length < folds ? `answers on labels of ${groups.length} groups` : "scores outside of 0 to 1",
      expected: `a judge that answers from 0 to 1, on labels of ${folds} groups or more`,
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
  // a student has no preference for a position: the answer is the same in both orders
  const heldOut = teacher.map((_, at): JudgedLabel => {
    const forward = said.get(at) ?? unasked;
    return { forward, ...(labels.kind === "pairs" && { backward: forward }), repeats: [] };
  });
  return {
    weights: fit(taught),
    heldOut,
    agreement: clusteredShare(
      taught.map(({ at, row }) => Math.sign(said.get(at)!.value - 0.5) === Math.sign(row.y - 0.5)),
      taught.map(({ group }) => group),
    ),
  };
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

const fileSchema = z.object({
  kind: z.literal("student judge"),
  /** What it was fitted to; a judge of pairs scores only differences. */
  labels: z.enum(["pairs", "replies"]),
  of: z.array(z.string()),
  weights: z.record(z.string(), z.number()),
});

/** Writes a student, whole or not at all. @param of names of its teachers. */
export async function writeStudent(
  file: string,
  labels: Labels["kind"],
  of: readonly string[],
  weights: LogisticWeights,
): Promise<void> {
  const row: z.input<typeof fileSchema> = {
    kind: "student judge",
    labels,
    of: [...of],
    weights: Object.fromEntries(weights),
  };
  await replaceFile(resolve(file), `${JSON.stringify(row)}\n`);
}

/**
 * The judge in a file of {@link writeStudent}. One that was fitted to pairs compares; its score of a single reply orders the replies
 * to one request, and ½ means nothing by itself.
 * @throws WhetstoneError `config.invalid` for another file.
 */
export async function readStudent(file: string): Promise<Able<"compare" | "score", JudgedItem>> {
  const read = await readJsonFile(file, fileSchema, "a judge that --distil wrote, or a module");
  const weights = new Map(Object.entries(read.weights));
  const odds = ({ asked, reply }: JudgedItem): number =>
    oddsOf(weights, withIntercept(featuresOf(asked, reply)));
  return {
    name: `student of ${read.of.join(", ")}`,
    compare: async (first, second) => sigmoid(odds(first) - odds(second)),
    score: async (items) => items.map((item) => ({ score: sigmoid(odds(item)) })),
  };
}
