/** Pairs of replies that differ in six attributes, of which one decides; a reader sees all of them dimly, or a few clearly. */
import { randomStream } from "../../../core/random.ts";
import type { Task } from "../../../core/types.ts";
import type { Environment } from "../../../env/environment.ts";
import { oneReply } from "../../../env/oneReply.ts";

const [attributes, requests] = [6, 4] as const;
/** Probability that a dim look at an attribute shows the wrong reply as the better one. */
const dim = 0.3;

/** The criteria: one for each attribute. */
export const looks = Array.from({ length: attributes }, (_, a) => `c${a}`);
export const verdicts = ["first", "second"] as const;

/**
 * A request of one of four kinds, and what there is to see of each attribute: `d3+`, which is dim and wrong in three of ten cases, and `t3-`,
 * which is true: `+` where the first reply is better in it. One attribute decides for each kind, drawn once; the verdict is "first" or
 * "second".
 */
export function closeLook(seed: number, count = 300): Environment {
  const decides = (kind: number): number => randomStream(seed).split("decides", kind).below(attributes);
  const seen = (question: number) => {
    const random = randomStream(seed).split("pair", question);
    const truth = Array.from({ length: attributes }, (_, a) => random.split("true", a).next() < 0.5);
    const dimly = truth.map((is, a) => (random.split("dim", a).next() < dim ? !is : is));
    return { kind: random.below(requests), truth, dimly };
  };
  const sign = (is: boolean): string => (is ? "+" : "-");
  const questionOf = (task: Task): number =>
    Number(task.metadata.index) + (task.id.includes("/test/") ? count : 0);
  const right = (task: Task): string => {
    const { kind, truth } = seen(questionOf(task));
    return truth[decides(kind)]! ? "first" : "second";
  };
  return oneReply({
    name: "close-look",
    summary: "say which of two replies is better, by an attribute that is hard to see",
    questions: count,
    length: 3,
    words: [...looks, ...verdicts],
    seed,
    ask(question) {
      const { kind, truth, dimly } = seen(question);
      return [
        `k${kind}`,
        ...dimly.map((is, a) => `d${a}${sign(is)}`),
        ...truth.map((is, a) => `t${a}${sign(is)}`),
      ].join(" ");
    },
    grade: (task, reply) => {
      const success = reply === right(task);
      return { rewards: { outcome: Number(success) }, success };
    },
    expert: right,
  });
}

/**
 * A reader of such pairs, for a linear policy: it sees each attribute dimly, and those that it named as criteria clearly instead. For a word
 * of its criteria it sees the kind of the request and its words so far.
 */
export const reader = (context: readonly string[]): readonly string[] => {
  const kind = context.find((word) => /^k\d$/.test(word)) ?? "";
  const begun = context.slice(context.lastIndexOf("<assistant>") + 1);
  const names = context.includes("rethink");
  if (context.includes("criteria") && !names) return [`criteria ${kind} ${begun.join(" ")}`];
  if (begun.length > 0) return ["over"];
  const clear = new Set(
    names ? context.filter((word) => looks.includes(word)).map((word) => word.slice(1)) : [],
  );
  return context
    .filter((word) => (/^d\d/.test(word) ? !clear.has(word[1]!) : /^t\d/.test(word) && clear.has(word[1]!)))
    .map((word) => `${kind} ${word}`);
};

/** Criteria are asked for and given in two words, verdicts in one. */
export const speaking = (context: readonly string[], word: string): number => {
  const begun = context.length - 1 - context.lastIndexOf("<assistant>");
  const criteria = context.includes("criteria") && !context.includes("rethink");
  if (begun >= (criteria ? 2 : 1)) return word === "<end>" ? 0 : -1e9;
  return (criteria ? looks : (verdicts as readonly string[])).includes(word) ? 0 : -1e9;
};
