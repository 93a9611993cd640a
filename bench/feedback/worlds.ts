/** Three small environments with a policy that can read, and the exact success of a policy that is told nothing. */

import { mean } from "../../src/common/statistics/statistics.ts";
import { pairRows } from "../../src/common/tokens/pack.ts";
import type { Model } from "../../src/core/model.ts";
import type { Task } from "../../src/core/types.ts";
import { meanOver, replyProbabilities } from "../../src/diagnose/replyProbabilities.ts";
import type { Engine } from "../../src/engine/engine.ts";
import { type Reading, tabularEngine } from "../../src/engine/tabular/engine.ts";
import { codeOf, codewords } from "../../src/env/codewords.ts";
import type { Environment } from "../../src/env/environment.ts";
import { inverseOf, inverses } from "../../src/worlds/inverses.ts";
import { lock, settingsOf } from "../../src/worlds/lock.ts";
import { tryAgain } from "../../src/worlds/tryAgain.ts";

/** How two answers in one context are trained, and the success of the second one. */
export interface SecondLook {
  environment(seed: number): Environment;
  success(policy: Model, tasks: readonly Task[]): Promise<number>;
}

/** An environment of the report. */
export interface World {
  readonly name: string;
  /** What is to be done, for the page. */
  readonly about: string;
  /** What all methods may spend, in outcomes and critiques. */
  readonly budget: number;
  /** Outcomes and critiques of each group of attempts, about. */
  readonly looks: number;
  environment(seed: number): Environment;
  engine(environment: Environment): Engine;
  /** Probability in 0…1, mean over the tasks trained on, without advice. */
  success(policy: Model, tasks: readonly Task[]): Promise<number>;
  /** Or why there is none. */
  readonly secondLook: SecondLook | string;
}

/** Nats by which a word rises where it was told. */
const obedience = 3;
const never = -1e9;

/** Logit of one word among `words` that has this chance, where all others have 0. */
const logitOf = (chance: number, words: number): number => Math.log((chance * (words - 1)) / (1 - chance));

/**
 * Follows a remedy, "wrong at step 2 : w3", at its place, and a solution, all of its words, place by place.
 * @param own what the environment itself says. @param place of the next word, its name and its index in a solution.
 */
function reader(
  own: RegExp,
  place: (context: readonly string[], reply: readonly string[]) => readonly [name: string, index: number],
): Reading {
  return {
    isRead: (message) => !own.test(message),
    shift: (told, reply, word, context) => {
      const [name, index] = place(context, reply);
      return told.reduce((sum, text) => {
        const helps = /wrong|right/.test(text)
          ? text.endsWith(`at ${name} : ${word}`)
          : text.split(/\s+/)[index] === word;
        return helps ? sum + obedience : sum;
      }, 0);
    },
  };
}

const [length, vocabulary] = [4, 8];
const wordsOfCodes = Array.from({ length: vocabulary }, (_, i) => `w${i}`);

/** Probability of each word of a reply after the ones before it, [words of the reply]. */
async function wordProbabilities(policy: Model, content: string, reply: string): Promise<readonly number[]> {
  const prompt = policy.codec.open([{ role: "user", content }]);
  const { logp } = await policy.score(pairRows([{ prompt, target: policy.codec.encode(reply) }]));
  return Array.from(logp, Math.exp);
}

/** Place k of a second answer depends on place k of the first one alone: Π_k Σ_w π(w at k) π(right at k | w said at k). */
async function secondCode(policy: Model, task: Task): Promise<number> {
  const question = task.prompt[0]!.content;
  const code = codeOf(task).join(" ");
  const sums = new Float64Array(length);
  for (const word of wordsOfCodes) {
    const said = Array.from({ length }, () => word).join(" ");
    const first = await wordProbabilities(policy, question, said);
    const second = await wordProbabilities(policy, `${question} ${said} : revise`, code);
    first.forEach((p, k) => {
      sums[k]! += p * second[k]!;
    });
  }
  return sums.reduce((product, p) => product * p, 1);
}

const codes = (seed: number): Environment =>
  codewords({ seed, questions: 8, length, vocabulary, pay: "whole" });

const codeWorld: World = {
  name: "codewords",
  about:
    "One reply: eight questions, each wants a code of four words out of eight; only the whole code pays. Begins with 0.25 on each right word.",
  budget: 2560,
  looks: 16,
  environment: codes,
  engine: (environment) => {
    const right = new Map(environment.tasks("train").map((t) => [t.prompt[0]!.content, codeOf(t)]));
    /** After "q3" or "q3 w1 w4 w2 w0 : revise". */
    const at = (context: readonly string[]) => {
      const question = context[1] ?? "";
      const place = context.length - 1 - context.indexOf("<assistant>");
      return { question, place, first: context.includes("revise") ? context[2 + place] : undefined };
    };
    return tabularEngine({
      context: "message",
      prior: (context, word) => {
        if (!/^w\d$/.test(word)) return never;
        const { question, place, first } = at(context);
        if (first !== undefined) return word === first ? logitOf(0.9, vocabulary) : 0;
        return word === right.get(question)?.[place] ? logitOf(0.25, vocabulary) : 0;
      },
      features: (context) => {
        const { question, place, first } = at(context);
        const bare = `${question} ${place}`;
        return first === undefined ? [bare] : [bare, `${bare} after ${first}`];
      },
      reading: reader(/^q\d+( .* : revise)?$/, (_context, reply) => [
        `step ${reply.length + 1}`,
        reply.length,
      ]),
    });
  },
  success: (policy, tasks) =>
    meanOver(tasks, async (task) => mean(await replyProbabilities(policy, task, [codeOf(task).join(" ")]))),
  secondLook: {
    environment: (seed) =>
      tryAgain(codes(seed), {
        turns: 2,
        until: "last",
        words: ({ task, replies }) => `${task.prompt[0]!.content} ${replies.at(-1)} : revise`,
        vocabulary: () => [": revise"],
      }),
    success: (policy, tasks) => meanOver(tasks, (task) => secondCode(policy, task)),
  },
};

const [modulus, slip] = [11, 0.3];
const numbers = Array.from({ length: modulus - 1 }, (_, i) => `${i + 1}`);
const twoAnswers = (seed: number): Environment => inverses({ modulus, slip, each: 20, seed });

/** Σ_b P(b is read) π(right | b was read), over the luck of a new task. */
async function mended(policy: Model, tasks: readonly Task[]): Promise<number> {
  const asked = new Map(tasks.map((task) => [task.prompt[0]!.content, task]));
  return meanOver([...asked.values()], async (task) => {
    const said = await replyProbabilities(policy, task, numbers);
    let chance = 0;
    for (const [b, number] of numbers.entries()) {
      const read = (1 - slip) * said[b]! + slip / numbers.length;
      const content = `${task.metadata.asked} times ${number} : revise`;
      const shown: Task = { ...task, prompt: [{ role: "user", content }] };
      const [right] = await replyProbabilities(policy, shown, [`${inverseOf(task)}`]);
      chance += read * right!;
    }
    return chance;
  });
}

const inverseWorld: World = {
  name: "inverses",
  about:
    "Two answers in one context: the inverse of a number modulo 11; three first answers in ten are misread, what was read is shown, and the second answer decides. Begins with any first answer, and repeats what was read with 0.9.",
  budget: 5120,
  looks: 16,
  environment: twoAnswers,
  engine: () =>
    tabularEngine({
      context: "message",
      prior: (context, word) => {
        if (!numbers.includes(word)) return never;
        return context.includes("times") && word === context[3] ? logitOf(0.9, numbers.length) : 0;
      },
      reading: reader(/^invert \d+$|: revise$/, (context) =>
        context.includes("times") ? ["step 2", 1] : ["step 1", 0],
      ),
    }),
  success: mended,
  secondLook: { environment: twoAnswers, success: mended },
};

const [wheels, settings] = [6, 4];

const lockWorld: World = {
  name: "lock",
  about:
    "Six turns: each of eight locks has six wheels of four settings, set one by one; it opens if all are right, and nothing tells before. Begins with 0.4 on each right setting.",
  budget: 2560,
  looks: 16,
  environment: (seed) => lock({ seed, locks: 8, wheels, settings }),
  engine: (environment) => {
    const right = new Map(environment.tasks("train").map((t) => [`${t.metadata.number}`, settingsOf(t)]));
    return tabularEngine({
      context: "message",
      prior: (context, word) => {
        if (!/^s\d$/.test(word)) return never;
        return word === right.get(context[2] ?? "")?.[Number(context[4])] ? logitOf(0.4, settings) : 0;
      },
      reading: reader(/^lock \d+ wheel \d+$/, (context) => [`wheel ${context[4]}`, Number(context[4])]),
    });
  },
  success: (policy, tasks) =>
    meanOver(tasks, async (task) => {
      let chance = 1;
      for (const [wheel, setting] of settingsOf(task).entries()) {
        const content = `lock ${task.metadata.number} wheel ${wheel}`;
        const seen: Task = { ...task, prompt: [{ role: "user", content }] };
        const [p] = await replyProbabilities(policy, seen, [setting]);
        chance *= p!;
      }
      return chance;
    }),
  secondLook: "does not apply: an attempt takes six turns, and there is no second one in its context",
};

/** In the order of the page. */
export const worlds: readonly World[] = [codeWorld, inverseWorld, lockWorld];
