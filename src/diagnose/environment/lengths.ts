/** Measures prompts and replies in a model's tokens: do they fit, and can the model read and write them? */

import { counted } from "../../common/text/counted.ts";
import type { Finding } from "../../core/finding.ts";
import type { Codec } from "../../core/model.ts";
import { randomStream } from "../../core/random.ts";
import type { Message, Task } from "../../core/types.ts";
import type { Environment } from "../../env/environment.ts";
import { failureOf, type PlayedBy, wordsIn } from "./players.ts";

export interface ModelReading {
  readonly codec: Codec;
  /** Longest sequence, in tokens. */
  readonly contextTokens: number;
}

/** Tokens: median and largest. */
export interface Lengths {
  readonly median: number;
  readonly most: number;
}

export interface LengthsReport {
  readonly prompts?: Lengths;
  /** Of scripted players. */
  readonly replies?: Lengths;
  readonly findings: readonly Finding[];
}

/** Most prompts and texts that are measured: more would tell the same. */
const mostMeasured = 500;

export function inspectLengths(
  environment: Environment,
  tasks: readonly Task[],
  all: readonly PlayedBy[],
  { codec, contextTokens }: ModelReading,
): LengthsReport {
  const unknown = unknownWords(environment, tasks, all, codec);
  const openings = openingsOf(tasks, all);
  // a codec that refuses unknown words cannot count the tokens of what holds them
  const counted = (messages: readonly Message[]): number[] => {
    try {
      return [codec.open(messages).length];
    } catch {
      return [];
    }
  };
  const prompts = openings.flatMap(counted);
  const replies = repliesOf(environment, tasks, all)
    .slice(0, mostMeasured)
    .flatMap((text) => {
      try {
        return [codec.encode(text).length];
      } catch {
        return [];
      }
    });
  const findings = [
    ...unknown,
    ...contextFindings(prompts, contextTokens),
    ...replyFindings(replies, environment.limits.actionTokens),
  ];
  const [promptLengths, replyLengths] = [lengthsOf(prompts), lengthsOf(replies)];
  return {
    ...(promptLengths && { prompts: promptLengths }),
    ...(replyLengths && { replies: replyLengths }),
    findings,
  };
}

function lengthsOf(counts: readonly number[]): Lengths | undefined {
  if (counts.length === 0) return undefined;
  const sorted = [...counts].sort((a, b) => a - b);
  return { median: sorted[sorted.length >> 1]!, most: sorted.at(-1)! };
}

/** What a policy reads before its first action: the task's prompt with the first observation where an episode was played. */
function openingsOf(tasks: readonly Task[], all: readonly PlayedBy[]): readonly (readonly Message[])[] {
  const first = new Map<string, readonly Message[]>();
  for (const { episodes } of all) {
    for (const { task, trajectories } of episodes) {
      const opening = trajectories[0]?.turns[0]?.prompt;
      if (opening) first.set(task.id, opening);
    }
  }
  const rest = tasks.filter(({ id }) => !first.has(id)).map(({ prompt }) => prompt);
  return [...first.values(), ...rest].slice(0, mostMeasured);
}

/** What scripted players said; where none has played, what they would say to the prompts. */
function repliesOf(
  { expert, flawed }: Environment,
  tasks: readonly Task[],
  all: readonly PlayedBy[],
): readonly string[] {
  const scripted = all.filter(({ player }) => player !== "random");
  if (scripted.length > 0) return scripted.flatMap(({ episodes }) => episodes.flatMap((e) => e.actions));
  const random = randomStream(1);
  return [expert, flawed].flatMap((player) =>
    tasks.slice(0, 100).flatMap((task) => {
      try {
        return player ? [player(task, task.prompt, random.split(task.id))] : [];
      } catch {
        return []; // it may need what the episode says first
      }
    }),
  );
}

function contextFindings(prompts: readonly number[], contextTokens: number): Finding[] {
  const tooLong = prompts.filter((n) => n >= contextTokens);
  if (tooLong.length === 0) return [];
  const all = tooLong.length === prompts.length;
  const most = Math.max(...tooLong);
  return [
    {
      check: "context",
      severity: all ? "error" : "warning",
      problem: `${all ? "All" : `${tooLong.length} of`} ${prompts.length} prompts fill the context of ${contextTokens} tokens before the first action; the longest has ${most}.`,
      fix: `${all ? "" : "Episodes of these tasks end without an action. "}Set --context-tokens above ${most}, or shorten the prompts.`,
    },
  ];
}

function replyFindings(replies: readonly number[], actionTokens: number): Finding[] {
  const tooLong = replies.filter((n) => n > actionTokens);
  if (tooLong.length === 0) return [];
  return [
    {
      check: "context",
      severity: "warning",
      problem: `${tooLong.length} of ${replies.length} replies of the scripted players are longer than limits.actionTokens, ${actionTokens}; the longest has ${Math.max(...tooLong)} tokens.`,
      fix: "Raise limits.actionTokens: the policy's replies are cut off there.",
    },
  ];
}

/** Words that come back otherwise than they went in, or that the codec refuses. */
function unknownWords(
  environment: Environment,
  tasks: readonly Task[],
  all: readonly PlayedBy[],
  codec: Codec,
): Finding[] {
  const episodes = all.flatMap((played) => played.episodes).filter((e) => failureOf(e) === undefined);
  const read = [
    ...openingsOf(tasks, all).flat(),
    ...episodes.flatMap(({ observations }) => observations.flatMap(({ messages }) => messages)),
  ].map(({ content }) => content);
  const written = [
    ...repliesOf(environment, tasks, all),
    ...episodes.flatMap(({ observations }) => observations.flatMap(({ legal = [] }) => legal)),
  ];
  const known = new Map<string, boolean>();
  const knows = (word: string): boolean => {
    let knownWord = known.get(word);
    if (knownWord === undefined) {
      try {
        knownWord = codec.decode(codec.encode(word)).trim() === word;
      } catch {
        knownWord = false;
      }
      known.set(word, knownWord);
    }
    return knownWord;
  };
  const missing = (texts: readonly string[]): string[] => [
    ...new Set(
      texts
        .slice(0, 20 * mostMeasured)
        .flatMap(wordsIn)
        .filter((word) => !knows(word)),
    ),
  ];
  const [unread, unwritten] = [missing(read), missing(written)];
  const fix = environment.vocabulary
    ? "Add what is missing to the environment's `vocabulary`: it lists every word that can occur."
    : "Give the environment a `vocabulary` with every word that can occur, or train a model with a tokenizer of its own (--model).";
  const named = (words: readonly string[]): string =>
    `${words
      .slice(0, 5)
      .map((w) => JSON.stringify(w.slice(0, 30)))
      .join(", ")}${words.length > 5 ? ", …" : ""}`;
  const findings: Finding[] = [];
  if (unwritten.length > 0) {
    const sayable = new Set(written.filter((text) => wordsIn(text).every(knows)));
    findings.push({
      check: "vocabulary",
      severity: sayable.size === 0 ? "error" : "warning",
      problem: `The model cannot write ${counted(unwritten.length, "word")} that right actions need: ${named(unwritten)}.`,
      fix,
    });
  }
  if (unread.length > 0) {
    const readable = read.some((text) => wordsIn(text).some(knows));
    findings.push({
      check: "vocabulary",
      severity: readable ? "warning" : "error",
      problem: `The model cannot read ${counted(unread.length, "word")} of prompts and observations: ${named(unread)}.`,
      fix,
    });
  }
  return findings;
}
