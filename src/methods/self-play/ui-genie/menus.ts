/** Menus with hidden entries: a goal names what to open one after the other, and screens show where one is. */
import { randomStream } from "../../../core/random.ts";
import type { Task } from "../../../core/types.ts";
import { defineEnvironment, type Environment } from "../../../env/environment.ts";
import { machine } from "../../../env/machine.ts";
import type { Features } from "../../../helper/ridge.ts";
import type { Acted, Judged } from "./rewardModel.ts";

const [words, shownWords, entries] = [12, 6, 5] as const;
const [shown, explored, heldOut, deepest] = [12, 16, 24, 5] as const;
const turns = deepest + 2;
/** Share of the words whose screen carries their own number. */
const named = 0.85;

const names = (kind: string, count: number): string[] =>
  Array.from({ length: count }, (_, i) => `${kind}${i}`);
export const entryWords = names("e", entries);
const done = "done";

/** The words of a goal. */
export const wordsOfGoal = (goal: string): readonly string[] => goal.split(" ").slice(1);

/** Menus: an environment, and the entry of a word. */
export interface Menus extends Environment {
  entry(word: string): string;
  /** What is judged, and the truth, of every first step of a held-out goal after a right way to it. */
  steps(): readonly { readonly x: Judged; readonly right: boolean }[];
}

/**
 * The task "open w3 w1 w7" is done by choosing the entry of each word in turn, one of five, and then saying "done". After the right entries so far the screen
 * is that of the last word, such as "at s3", which carries the word's number for 85 % of the words and any for the rest; anywhere else it is any of 12. The expert shows goals of two
 * or three words, of six of the 12 words; goals of three to five words of all are explored, and others of four are held out.
 */
export function menus(seed: number): Menus {
  const random = randomStream(seed).split("menus");
  const entry = (word: string): string => `e${random.split("entry", word).below(entries)}`;
  const screenOf = (word: string): string => {
    const own = random.split("screen", word);
    return own.next() < named ? `s${word.slice(1)}` : `s${own.below(words)}`;
  };
  const asked = (task: Task): readonly string[] => wordsOfGoal(task.prompt[0]!.content);
  /** The screen after these actions. */
  const seen = (task: Task, actions: readonly string[]): string => {
    const goal = asked(task);
    const right = actions.length <= goal.length && actions.every((action, k) => action === entry(goal[k]!));
    return right
      ? screenOf(goal[actions.length - 1]!)
      : `s${randomStream(task.seed)
          .split(...actions)
          .below(words)}`;
  };
  const isDone = (task: Task, actions: readonly string[]): boolean =>
    [...asked(task).map(entry), done].join(" ") === actions.join(" ");
  const taskOf = (split: string, i: number, depth: number, of: number): Task => {
    const draw = random.split(split, i);
    const goal = Array.from({ length: depth }, (_, k) => `w${draw.split(k).below(of)}`);
    return {
      id: `menus/${split}/${i}`,
      prompt: [{ role: "user", content: ["open", ...goal].join(" ") }],
      metadata: { demonstrated: split === "shown" },
      seed: draw.seed,
    };
  };
  const some = (split: string, count: number, depth: (i: number) => number, of: number): Task[] =>
    Array.from({ length: count }, (_, i) => taskOf(split, i, depth(i), of));
  const splits: Readonly<Record<string, readonly Task[]>> = {
    train: [
      ...some("shown", shown, (i) => 2 + (i % 2), shownWords),
      ...some("explored", explored, (i) => 3 + (i % 3), words),
    ],
    test: some("test", heldOut, () => 4, words),
  };
  const expert = (task: Task, taken: number): string => {
    const word = asked(task)[taken];
    return word === undefined ? done : entry(word);
  };
  return {
    entry,
    steps: () =>
      splits.test!.flatMap((task) =>
        asked(task).flatMap((word, k) => {
          const before = asked(task).slice(0, k).map(entry);
          const way = [...before.keys()].map(
            (j): Acted => ({
              screen: j === 0 ? task.prompt[0]!.content : `at ${seen(task, before.slice(0, j))}`,
              action: before[j]!,
            }),
          );
          const screen = k === 0 ? task.prompt[0]!.content : `at ${seen(task, before)}`;
          return entryWords.map((action) => ({
            x: { mode: "step", goal: task.prompt[0]!.content, acted: [...way, { screen, action }] } as const,
            right: action === entry(word),
          }));
        }),
      ),
    ...defineEnvironment({
      name: "menus",
      summary: "open one thing after the other in menus whose entries are hidden",
      abilities: new Set(["replay", "stateKey", "expert"] as const),
      roles: ["agent"],
      splits: Object.keys(splits),
      limits: { turns, actionTokens: 1 },
      vocabulary: () => ["open at done", ...entryWords, ...names("w", words), ...names("s", words)],
      tasks: (split) => splits[split] ?? [],
      start: async (task, stream) =>
        machine<readonly string[]>(
          {
            see: (taken) => ({
              messages: taken.length > 0 ? [{ role: "user", content: `at ${seen(task, taken)}` }] : [],
              stateKey: `${task.id} ${taken.join(" ")}`,
            }),
            act: (taken, action) => {
              const next = [...taken, action];
              const end = { kind: "truncated", limit: "turns", at: turns } as const;
              if (action !== done)
                return { next, ...(next.length === turns && { rewards: { outcome: 0 }, end }) };
              const success = isDone(task, next);
              return {
                next,
                rewards: { outcome: Number(success) },
                end: { kind: "done", reason: "finished", success },
              };
            },
          },
          [],
          stream,
        ),
      expert: (task, conversation) =>
        expert(task, conversation.filter(({ role }) => role === "assistant").length),
      verify: async (task, { turns }) => ({
        outcome: Number(
          isDone(
            task,
            turns.map(({ action }) => action.content.trim()),
          ),
        ),
      }),
    }),
  };
}

/** The word that is next: "end" after the last one. */
const nextWord = (goal: readonly string[], taken: number): string => goal[taken] ?? "end";

/** All entries and the end are equally likely at first. */
export const menuSpeaker = (_context: readonly string[], word: string): number =>
  entryWords.includes(word) || word === done ? 0 : -1e9;
/** A row for each word that is next. */
export const menuReader = (context: readonly string[]): readonly string[] => {
  const from = context.lastIndexOf("open") + 1;
  const goal = context.slice(from, context.indexOf("<end>", from));
  return [nextWord(goal, context.filter((word) => word === "at").length)];
};

/** What a reward model can see: the entry for the word, and whether the screen is the one of the word before, by its number or by experience. */
export const menuFeatures = ({ mode, goal, acted }: Judged): Features => {
  const asked = wordsOfGoal(goal);
  const { screen, action } = acted.at(-1)!;
  const taken = acted.length - 1;
  const shows = taken === 0 ? undefined : screen.split(" ")[1]!;
  const before = asked[taken - 1] ?? "end";
  const found = [
    `${mode}`,
    ...(mode === "step" ? [`act ${nextWord(asked, taken)} ${action}`] : [`ends ${nextWord(asked, taken)}`]),
    ...(shows === undefined
      ? []
      : [`${shows.slice(1) === before.slice(1) ? "own" : "other"} number`, `shows ${before} ${shows}`]),
  ];
  return Object.fromEntries(found.map((name) => [name, 1]));
};
