/** Asks a judge for its verdict on labelled replies: each pair in both orders, and again. */
import { able, comparingScores, type Evaluator } from "../core/evaluator.ts";
import type { Random } from "../core/random.ts";
import { type CallLimits, type JudgeCall, judgeCalls, scoreOf } from "./judgeCall.ts";
import { type JudgedItem, judgedItem } from "./judgedItem.ts";
import { aspectOf, type Labels, type PairLabel, type ReplyLabel } from "./labels.ts";

/** The calls about one label. */
export interface JudgedLabel {
  /** Reply a is shown first; or the only reply. */
  readonly forward: JudgeCall;
  /** Reply b is shown first; its value is still that of reply a. Undefined for a single reply. */
  readonly backward?: JudgeCall;
  /** As forward, with other random numbers. */
  readonly repeats: readonly JudgeCall[];
  /** As forward, in other words; undefined where the label has none. */
  readonly rephrased?: JudgeCall;
}

/** Settings of {@link judgeTrial}. */
export interface TrialOptions extends CallLimits {
  readonly random: Random;
  /** Times that each label is asked again in the same order. Default 1. */
  readonly repeats?: number;
  /** After each label. */
  readonly onLabel?: () => void;
}

/**
 * The judge's calls about each label, in the order of the labels. A label about an aspect for which the judge has an evaluator of its own
 * is held against that one. A call that fails is counted and ends nothing.
 */
export async function judgeTrial(
  evaluator: Evaluator<JudgedItem>,
  labels: Labels,
  options: TrialOptions,
): Promise<readonly JudgedLabel[]> {
  const { random, repeats = 1, onLabel } = options;
  const again = Array.from({ length: repeats }, (_, r) => r);
  const call = judgeCalls(options);

  const judgeOf = (label: PairLabel | ReplyLabel): Evaluator<JudgedItem> =>
    evaluator.aspects?.get(aspectOf(label)) ?? evaluator;

  async function ofPair(label: PairLabel, at: number): Promise<JudgedLabel> {
    const { prompt, a, b, rephrased } = label;
    const judge = judgeOf(label);
    const [first, second] = [judgedItem(prompt, a, `${at}a`), judgedItem(prompt, b, `${at}b`)];
    const own = random.split(at);
    const compare = able(judge.compare ? judge : comparingScores(judge), "compare");
    const probability = (p: number): boolean => p >= 0 && p <= 1;
    const forwards = (key: string | number): Promise<JudgeCall> =>
      call((signal) => compare(first, second, { random: own.split("forward", key), signal }), probability);
    const inOtherWords = (words: NonNullable<PairLabel["rephrased"]>): Promise<JudgeCall> => {
      const asked = words.prompt ?? prompt;
      const one = judgedItem(asked, words.a ?? a, `${at}a rephrased`);
      const other = judgedItem(asked, words.b ?? b, `${at}b rephrased`);
      return call((signal) => compare(one, other, { random: own.split("rephrased"), signal }), probability);
    };
    const [said, forward, backward, ...more] = await Promise.all([
      rephrased && inOtherWords(rephrased),
      forwards("first"),
      call((signal) => compare(second, first, { random: own.split("backward"), signal }), probability),
      ...again.map(forwards),
    ]);
    const value = backward.value;
    return {
      forward,
      ...(said && { rephrased: said }),
      backward: value === undefined ? backward : { ...backward, value: 1 - value },
      repeats: more,
    };
  }

  async function ofReply(label: ReplyLabel, at: number): Promise<JudgedLabel> {
    const { prompt, reply, rephrased } = label;
    const item = judgedItem(prompt, reply, String(at));
    const asked = (key: string | number, what = item): Promise<JudgeCall> =>
      call(
        (signal) => scoreOf(judgeOf(label), what, { random: random.split(at, key), signal }),
        Number.isFinite,
      );
    const words =
      rephrased && judgedItem(rephrased.prompt ?? prompt, rephrased.reply ?? reply, `${at} rephrased`);
    const [said, forward, ...more] = await Promise.all([
      words && asked("rephrased", words),
      asked("first"),
      ...again.map((r) => asked(r)),
    ]);
    return { forward, ...(said && { rephrased: said }), repeats: more };
  }

  const one = async (work: Promise<JudgedLabel>): Promise<JudgedLabel> => {
    const done = await work;
    onLabel?.();
    return done;
  };
  return labels.kind === "pairs"
    ? Promise.all(labels.labels.map((label, at) => one(ofPair(label, at))))
    : Promise.all(labels.labels.map((label, at) => one(ofReply(label, at))));
}
