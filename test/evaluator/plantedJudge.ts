/** Labelled pairs from a seed, and a judge of them whose biases are known. */
import type { Able } from "../../src/core/evaluator.ts";
import { type Random, randomStream } from "../../src/core/random.ts";
import type { Candidate } from "../../src/core/rubrics.ts";
import type { BiasName } from "../../src/evaluator/bias.ts";
import type { PairLabel } from "../../src/evaluator/labels.ts";

interface MadeReply {
  readonly text: string;
  /** Of the words, in tens. */
  readonly length: number;
  readonly format: number;
  readonly authority: number;
}

/** People tend to prefer the reply that is good, and good ones tend to be longer and to have bullet points. */
function reply(good: boolean, id: string, random: Random): MadeReply {
  const words = Math.round(20 + 40 * random.next() + (good ? 15 : 0));
  const format = Number(random.next() < (good ? 0.6 : 0.3));
  const authority = Number(random.next() < 0.4);
  const body = Array.from({ length: words }, () => "word").join(" ");
  const text = `${authority ? "According to experts, " : ""}${id} ${body}${format ? "\n- one\n- two" : ""}`;
  return { text, length: Math.log2(1 + text.length), format, authority };
}

/** @returns the pairs, and a judge that knows the labels and adds to its log-odds what is planted. */
export function plantedJudge(
  seed: number,
  planted: Partial<Record<BiasName, number>>,
  pairs = 500,
): { readonly labels: readonly PairLabel[]; readonly judge: Able<"compare", Candidate> } {
  const random = randomStream(seed);
  const about = new Map<string, { readonly good: number; readonly made: MadeReply; readonly own: number }>();
  const labels = Array.from({ length: pairs }, (_, at): PairLabel => {
    const own = random.split("pair", at);
    const preferred = own.next() < 0.1 ? "tie" : own.next() < 0.5 ? "a" : "b";
    const a = reply(preferred === "a", `a${at}`, own);
    const b = reply(preferred === "b", `b${at}`, own);
    // the judge's own model writes one of two replies, and somewhat more often the good one
    const mine = own.next() < 0.3 ? undefined : own.next() < (preferred === "a" ? 0.65 : 0.4) ? "a" : "b";
    about.set(a.text, { good: Number(preferred === "a"), made: a, own: Number(mine === "a") });
    about.set(b.text, { good: Number(preferred === "b"), made: b, own: Number(mine === "b") });
    return { prompt: `question ${at}`, a: a.text, b: b.text, preferred, own: mine };
  });
  const judge: Able<"compare", Candidate> = {
    name: "planted",
    compare: async (first, second, { random: calls }) => {
      const [one, two] = [about.get(first.reply)!, about.get(second.reply)!];
      const odds =
        1.5 * (one.good - two.good) +
        (planted.position ?? 0) +
        (planted.length ?? 0) * (one.made.length - two.made.length) +
        (planted.format ?? 0) * (one.made.format - two.made.format) +
        (planted.authority ?? 0) * (one.made.authority - two.made.authority) +
        (planted["self-preference"] ?? 0) * (one.own - two.own);
      return calls.next() < 1 / (1 + Math.exp(-odds)) ? 1 : 0;
    },
  };
  return { labels, judge };
}
