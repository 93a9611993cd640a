/** What games of finding a hidden thing by questions share. */
import { randomStream } from "../../core/random.ts";
import type { Message, Task, Trajectory } from "../../core/types.ts";
import {
  alreadyOver,
  defineEnvironment,
  type Environment,
  type Episode,
  type Player,
} from "../environment.ts";
import { heldOutSplits, itemsOf } from "../heldOut.ts";

/** Something that can be hidden, and what is said of it when asked. */
export interface Guessable {
  readonly name: string;
  /** By question. */
  readonly answers: Readonly<Record<string, string>>;
}

/** Who knows what is hidden (`task.reference`) and answers questions about it: scripted, a chat model, a person. */
export type Oracle = (task: Task, question: string) => Promise<string>;

export interface GuessingOptions {
  readonly name: string;
  readonly summary: string;
  /** What is said first. */
  readonly prompt: string;
  /** All that can be hidden; names differ. */
  readonly things: readonly Guessable[];
  /** Default: answers by the things' own table, and "i can not say" to what is not in it. */
  readonly answerer?: Oracle;
  /** Questions and guesses in all. Default 20. */
  readonly turns?: number;
  /** Which things are trained. Default 1. */
  readonly seed?: number;
}

const unknown = "i can not say";
const wrong = "no , it is something else";
const advice = {
  unknown: "ask one of the questions or guess a name",
  again: "you asked that before",
  impossible: "that can not be after what you know",
};

/**
 * Every action is a question, which is answered, or `guess NAME`. Rewards: `cost`, −1 for each action but the right guess,
 * and at the end `outcome`, 1 if it was found. Texts point out questions asked twice and guesses that the answers rule
 * out. The things of validation and test are hidden in no trained game. The expert asks what leaves fewest things; the
 * flawed player asks anything, and guesses by the last three answers alone.
 */
export function guessing(options: GuessingOptions): Environment {
  const { name, summary, prompt, things, turns = 20, seed = 1 } = options;
  const byName = new Map(things.map((thing) => [thing.name, thing]));
  const questions = [...new Set(things.flatMap(({ answers }) => Object.keys(answers)))];
  const listed = new Set(questions);
  const legal = [...questions, ...things.map((thing) => `guess ${thing.name}`)];
  const tabled: Oracle = async (task, question) =>
    (listed.has(question) ? secretOf(task).answers[question] : undefined) ?? unknown;
  const answerer = options.answerer ?? tabled;
  const secretOf = (task: Task): Guessable => byName.get(task.reference ?? "") ?? { name: "", answers: {} };

  /** Things that would have answered these questions as the secret does, without those guessed. */
  function fitting(secret: Guessable, said: readonly string[]): readonly Guessable[] {
    const guessed = new Set(said.flatMap((text) => guessIn(text) ?? []));
    const asked = said.filter((text) => listed.has(text));
    return things.filter(
      (thing) => !guessed.has(thing.name) && asked.every((q) => thing.answers[q] === secret.answers[q]),
    );
  }

  function start(task: Task): Episode {
    const secret = secretOf(task);
    const said: string[] = [];
    let [reply, ended] = ["", false];
    return {
      observe: async () => ({
        role: "agent",
        observation: {
          messages: reply === "" ? [] : [{ role: "user", content: reply }],
          stateKey: `${task.id} after ${[...said].sort().join(" ; ")}`,
          legal,
        },
      }),
      act: async ({ content }) => {
        if (ended) return alreadyOver;
        const text = tidy(content);
        const guess = guessIn(text);
        const success = guess === secret.name && guess !== undefined;
        const hint = success ? undefined : adviceOn(text, secret, said);
        said.push(text);
        ended = success || said.length >= turns;
        if (!ended) reply = guess === undefined ? await answerer(task, text) : wrong;
        return {
          rewards: { ...(!success && { cost: -1 }), ...(ended && { outcome: success ? 1 : 0 }) },
          ...(hint && { text: hint }),
          ...(ended && { end: { kind: "done", reason: success ? "found" : "out of questions", success } }),
        };
      },
    };
  }

  function adviceOn(text: string, secret: Guessable, said: readonly string[]): string | undefined {
    if (said.includes(text)) return advice.again;
    const guess = guessIn(text);
    if (guess === undefined) return listed.has(text) || options.answerer ? undefined : advice.unknown;
    const possible = fitting(secret, said).some((thing) => thing.name === guess);
    return possible ? undefined : byName.has(guess) ? advice.impossible : advice.unknown;
  }

  const expert: Player = (task, conversation) => {
    const [secret, said] = [secretOf(task), spoken(conversation)];
    const possible = fitting(secret, said);
    const question = possible.length > 2 ? bestQuestion(questions, possible) : undefined;
    return question !== undefined && said.length + 1 < turns ? question : `guess ${possible[0]?.name ?? ""}`;
  };

  const flawed: Player = (task, conversation, random) => {
    if (random.next() < 0.7) return questions[random.below(questions.length)]!;
    const possible = fitting(secretOf(task), spoken(conversation).slice(-3));
    return `guess ${possible[random.below(possible.length)]?.name ?? ""}`;
  };

  return defineEnvironment({
    name,
    summary,
    // another answerer may answer differently each time
    abilities: new Set([
      "stateKey",
      "expert",
      "legal",
      ...(options.answerer ? [] : (["replay"] as const)),
    ] as const),
    roles: ["agent"],
    splits: heldOutSplits,
    limits: { turns, actionTokens: Math.max(...legal.map((text) => text.split(" ").length)) + 1 },
    tasks: (split) =>
      itemsOf(things, split, randomStream(seed).split(name)).map((thing, i) => ({
        id: `${name}/${split}/${i}`,
        prompt: [{ role: "user", content: prompt }],
        reference: thing.name,
        metadata: {},
        seed: randomStream(seed).split(name, thing.name).seed,
      })),
    start: async (task) => start(task),
    vocabulary: () => [
      ...new Set([
        prompt,
        ...legal,
        ...things.flatMap(({ answers }) => Object.values(answers)),
        unknown,
        wrong,
        ...Object.values(advice),
      ]),
    ],
    expert,
    flawed,
    async verify(task: Task, trajectory: Trajectory) {
      const last = trajectory.turns.slice(0, turns).at(-1)?.action.content ?? "";
      return { outcome: guessIn(tidy(last)) === task.reference ? 1 : 0 };
    },
  });
}

/** Lower case, single spaces, no marks at the end. */
const tidy = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[?.!,]/g, " ")
    .replace(/\s+/g, " ")
    .trim();
const guessIn = (text: string): string | undefined => /^guess (.+)$/.exec(text)?.[1];
const spoken = (conversation: readonly Message[]): string[] =>
  conversation.flatMap((m) => (m.role === "assistant" ? [tidy(m.content)] : []));

/** The question that leaves fewest things, Σ n(answer)² / N; the first of equals, none where nothing tells them apart. */
function bestQuestion(questions: readonly string[], possible: readonly Guessable[]): string | undefined {
  let best: string | undefined;
  let least = possible.length ** 2;
  for (const question of questions) {
    const counts = new Map<string | undefined, number>();
    for (const { answers } of possible)
      counts.set(answers[question], (counts.get(answers[question]) ?? 0) + 1);
    let squares = 0;
    for (const n of counts.values()) squares += n * n;
    if (squares < least) [best, least] = [question, squares];
  }
  return best;
}
