/** Wordle: find a hidden word within a few guesses, each marked letter by letter. */
import { randomStream } from "../../core/random.ts";
import type { Message, Task, Trajectory } from "../../core/types.ts";
import { demand } from "../demand.ts";
import {
  alreadyOver,
  defineEnvironment,
  type Environment,
  type Episode,
  type Player,
} from "../environment.ts";
import { heldOutSplits, itemsOf } from "../heldOut.ts";
import { attributesOf, bestGuess, colours, consistent, marksInWords } from "./marks.ts";
import data from "./words.data.json" with { type: "json" };

/** Settings of {@link wordle}. */
export interface WordleOptions {
  /** What may be hidden: words of one length, in letters a to z. Default: 1,365 common English words of five letters. */
  readonly answers?: readonly string[];
  /** What may be guessed besides. Default: 5,050 less common ones, or nothing where `answers` are given. */
  readonly guesses?: readonly string[];
  /** Guesses until the game is lost. Default 6. */
  readonly turns?: number;
  /** Which words are trained. Default 1. */
  readonly seed?: number;
}

/** Longest list that is handed out as legal actions. */
const listable = 100;

const prompt = "guess the word";
const unlisted = "not in the word list";
const careless = "the marks so far rule this word out";

/**
 * Guesses are spelled, `c r a n e`, or written as one word. Each is answered with `c grey r yellow a green n grey e grey`;
 * one that is no word of the list is answered so and is a guess spent. Rewards: `cost`, −1 for every guess that is not
 * the word, and at the end `outcome`, 1 if it was found. The text says where a guess contradicts earlier marks. Words
 * are split seven to one to two: those of validation and test are hidden in no trained game.
 * The expert guesses what leaves fewest answers. The flawed player minds nothing but the green letters.
 * Paper: "LMRL Gym: Benchmarks for Multi-Turn Reinforcement Learning with Language Models".
 * @throws WhetstoneError `option.range` for other words.
 */
export function wordle(options: WordleOptions = {}): Environment {
  const { answers = data.answers.split(" "), turns = 6, seed = 1 } = options;
  const guesses = options.guesses ?? (options.answers ? [] : data.guesses.split(" "));
  const allowed = new Set([...answers, ...guesses]);
  const length = answers[0]?.length ?? 0;
  const odd = [...allowed].find((word) => word.length !== length || !/^[a-z]+$/.test(word));
  demand(odd === undefined, "wordle: answers and guesses", odd, "words of one length, in letters a to z");
  const legal = allowed.size <= listable ? [...allowed].map(spelled) : undefined;

  /** The word that is meant, if it is one of the list. */
  const wordIn = (content: string): string | undefined => {
    const word = content.trim().toLowerCase().replaceAll(" ", "");
    return allowed.has(word) ? word : undefined;
  };
  const guessed = (conversation: readonly Message[]): string[] =>
    conversation.flatMap((m) => (m.role === "assistant" ? (wordIn(m.content) ?? []) : []));

  function start(task: Task): Episode {
    const secret = task.reference ?? "";
    const made: string[] = [];
    let [turn, said, ended] = [0, "", false];
    return {
      observe: async () => ({
        role: "agent",
        observation: {
          messages: said === "" ? [] : [{ role: "user", content: said }],
          stateKey: `${task.id} after ${made.join(" ")}`,
          ...(legal && { legal }),
        },
      }),
      act: async ({ content }) => {
        if (ended) return alreadyOver;
        turn++;
        const word = wordIn(content);
        const success = word === secret;
        ended = success || turn >= turns;
        const careful =
          word === undefined || made.every((g) => attributesOf(g, word) === attributesOf(g, secret));
        said = word === undefined ? unlisted : marksInWords(word, secret);
        if (word !== undefined) made.push(word);
        return {
          rewards: { ...(!success && { cost: -1 }), ...(ended && { outcome: success ? 1 : 0 }) },
          ...(word === undefined ? { text: unlisted } : !careful && { text: careless }),
          ...(ended && { end: { kind: "done", reason: success ? "found" : "out of guesses", success } }),
        };
      },
    };
  }

  /** By what was guessed and how it was marked. */
  const known = new Map<string, string>();
  const expert: Player = (task, conversation) => {
    const [secret, made] = [task.reference ?? "", guessed(conversation)];
    const key = made.map((word) => `${word} ${attributesOf(word, secret)}`).join(" ");
    const best = known.get(key) ?? bestGuess(answers, consistent(answers, made, secret)) ?? secret;
    known.set(key, best);
    return spelled(best);
  };

  const flawed: Player = (task, conversation, random) => {
    const [secret, made] = [task.reference ?? "", guessed(conversation)];
    const green = [...secret].map((letter, i) => made.some((word) => word[i] === letter));
    const fits = answers.filter(
      (word) => !made.includes(word) && green.every((is, i) => !is || word[i] === secret[i]),
    );
    return spelled(fits[random.below(fits.length)] ?? secret);
  };

  const tasks = (split: string): readonly Task[] =>
    itemsOf(answers, split, randomStream(seed).split("wordle")).map((secret, i) => ({
      id: `wordle/${split}/${i}`,
      prompt: [{ role: "user", content: prompt }],
      reference: secret,
      metadata: {},
      seed: randomStream(seed).split("wordle", secret).seed,
    }));

  return defineEnvironment({
    name: "wordle",
    summary: "find a hidden word of five letters within six guesses, each marked letter by letter",
    abilities: new Set(["replay", "stateKey", "expert", ...(legal ? (["legal"] as const) : [])] as const),
    roles: ["agent"],
    splits: heldOutSplits,
    limits: { turns, actionTokens: length + 1 },
    tasks,
    start: async (task) => start(task),
    vocabulary: () => [spelled("abcdefghijklmnopqrstuvwxyz"), ...colours, prompt, unlisted, careless],
    expert,
    flawed,
    async verify(task: Task, trajectory: Trajectory) {
      const last = trajectory.turns.slice(0, turns).at(-1)?.action.content ?? "";
      return { outcome: wordIn(last) === task.reference ? 1 : 0 };
    },
  });
}

const spelled = (word: string): string => [...word].join(" ");
