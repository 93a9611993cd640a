/** A conversation whose instructions hold on, overlap and contradict each other, each checked at every turn. */
import { randomStream } from "../../core/random.ts";
import type { Task, Trajectory } from "../../core/types.ts";
import {
  alreadyOver,
  defineEnvironment,
  type Environment,
  type Episode,
  type Player,
} from "../environment.ts";
import { categories, conversation, instructionsGiven, vocabulary } from "./conversations.ts";
import {
  type Conversation,
  content,
  conversationOf,
  followed,
  formed,
  type Instruction,
  plain,
  spoken,
  wordsOf,
} from "./instructions.ts";

/** Settings of {@link entangledInstructions}. */
export interface EntangledOptions {
  /** Conversations of each of the nine categories that are trained. Default 40. */
  readonly perCategory?: number;
  /** Default 1. */
  readonly seed?: number;
}

/** The turn at which a line is to be repeated: right after the instructions. */
export const repeatTurn = instructionsGiven;

/** A task's conversation. */
export const linesOf = (task: Task): Conversation => conversationOf(task.metadata);

/** The instructions active at a turn, and whether the reply follows all of them. */
const checkedAt = (task: Task, turn: number, reply: string) => {
  const checked = followed(linesOf(task), turn, reply);
  return { checked, all: checked.every((c) => c.passed) };
};

/**
 * Somebody gives four instructions, one a line, asks for one of them word for word, and then asks what they are
 * about. Every reply is checked against each instruction that is active at its turn, and pays `followed` 1 if all are
 * kept; what was not kept is said in words. The last reply pays `outcome` 1 if every turn was kept. Nine categories
 * in three levels:
 *
 * | level | what it takes | categories |
 * | --- | --- | --- |
 * | 1 | retrieving what was given | recall, lookup, format |
 * | 2 | keeping track, and acting on several at once | tracking, trigger, combination |
 * | 3 | resolving conflicts | privacy, preference, priority |
 *
 * The expert resolves conflicts: the higher priority, then the later; exceptions once; secrets kept. The flawed player
 * remembers everything and obeys what was said last: its memory is perfect and level 3 beyond it.
 * After the paper "Can Language Models Follow Multiple Turns of Entangled Instructions?"; its conversations are not
 * these, which are generated.
 */
export function entangledInstructions(options: EntangledOptions = {}): Environment {
  const { perCategory = 40, seed = 1 } = options;
  const sizes: Readonly<Record<string, number>> = {
    train: perCategory,
    validation: Math.ceil(perCategory / 4),
    test: Math.ceil(perCategory / 2),
  };
  const tasksOf = (split: string): Task[] =>
    Array.from({ length: sizes[split] ?? 0 }, (_, index) =>
      categories.map((category): Task => {
        const random = randomStream(seed).split("entangled", split, category.name, index);
        const { lines, level } = conversation(category, random);
        return {
          id: `entangled-instructions/${split}/${category.name}/${index}`,
          prompt: [{ role: "user", content: spoken(lines[0]!) }],
          metadata: { category: category.name, level, lines: JSON.parse(JSON.stringify(lines)) },
          seed: random.seed,
        };
      }),
    ).flat();

  function start(task: Task): Episode {
    const { lines } = linesOf(task);
    let [turn, soFar] = [0, true];
    return {
      observe: async () => ({
        role: "agent",
        observation: {
          messages: turn === 0 || !lines[turn] ? [] : [{ role: "user", content: spoken(lines[turn]!) }],
          stateKey: `${task.id} ${turn} ${soFar}`,
        },
      }),
      act: async ({ content: reply }) => {
        if (turn >= lines.length) return alreadyOver;
        const { checked, all } = checkedAt(task, turn, reply);
        soFar &&= all;
        turn++;
        const broken = checked.flatMap((c) => (c.passed ? [] : [c.kind]));
        const said = broken.length > 0 ? { text: `not followed : ${broken.join(" ")}` } : {};
        if (turn < lines.length) return { rewards: { followed: all ? 1 : 0 }, ...said };
        return {
          rewards: { followed: all ? 1 : 0, outcome: soFar ? 1 : 0 },
          end: { kind: "done", reason: soFar ? "all followed" : "not all followed", success: soFar },
          ...said,
        };
      },
    };
  }

  return defineEnvironment({
    name: "entangled-instructions",
    summary: "follow instructions over many turns that hold on, overlap and contradict each other",
    abilities: new Set(["replay", "stateKey", "expert"] as const),
    roles: ["agent"],
    splits: Object.keys(sizes),
    limits: { turns: instructionsGiven + 3, actionTokens: 16 },
    tasks: tasksOf,
    start: async (task) => start(task),
    vocabulary: everyWord,
    expert,
    flawed,
    async verify(task: Task, { turns }: Trajectory) {
      const { lines } = linesOf(task);
      const kept = lines.map((_, turn) => checkedAt(task, turn, turns[turn]?.action.content ?? "").all);
      return { outcome: kept.every(Boolean) ? 1 : 0 };
    },
  });
}

/** Which line of the conversation is to be answered. */
const turnOf = (conversation: readonly { readonly role: string }[]): number =>
  conversation.filter((m) => m.role === "assistant").length;

const expert: Player = (task, conversation) => {
  const turn = turnOf(conversation);
  return formed(linesOf(task), turn, content(linesOf(task), turn).says);
};

/** Tells anybody, lets the last wish stand for good, and writes as the last rule on letters says. */
const flawed: Player = (task, conversation) => {
  const turn = turnOf(conversation);
  const all = linesOf(task);
  const before = all.lines.slice(0, turn).flatMap((line) => ("gives" in line ? [line.gives] : []));
  const latest = <K extends Instruction["kind"]>(kind: K) =>
    before.findLast((i): i is Extract<Instruction, { kind: K }> => i.kind === kind);
  const line = all.lines[turn]!;
  const asked = "asks" in line ? line.asks.kind : undefined;
  const says =
    asked === "code"
      ? latest("secret")?.code
      : asked === "drink"
        ? latest("exception")?.drink
        : content(all, turn).says;
  return formed(all, turn, says ?? "unknown", latest("case")?.letters);
};

function everyWord(): readonly string[] {
  const sentences: readonly Instruction[] = [
    { kind: "remember", key: "", value: "" },
    { kind: "count", value: 0 },
    { kind: "add", amount: 0 },
    { kind: "trigger", when: "", reply: "" },
    { kind: "opening", word: "" },
    { kind: "ending", word: "" },
    { kind: "case", letters: "upper", priority: 1 },
    { kind: "case", letters: "lower", priority: 2 },
    { kind: "wish", drink: "" },
    { kind: "exception", drink: "" },
    { kind: "secret", code: "" },
  ];
  const said = [...sentences.map(wordsOf).map(plain), ...vocabulary, "ok no unknown"];
  return [
    ...said,
    ...said.map((text) => text.toUpperCase()),
    "amy : bob : ? what is repeat line",
    `not followed : acknowledge repeat ${sentences.map((i) => i.kind).join(" ")}`,
  ];
}
