/** Who is the spy, in words: four players say what they see, and one of them sees one thing otherwise. */
import { randomStream } from "../../../core/random.ts";
import type { Task } from "../../../core/types.ts";
import { alreadyOver, defineEnvironment, type Environment, type Episode } from "../../../env/environment.ts";
import { nobody } from "./spyGames.ts";

const [attributes, values, players, rounds] = [2, 4, 4, 2] as const;
const names = (kind: string, count: number): string[] =>
  Array.from({ length: count }, (_, i) => `${kind}${i}`);
export const playerWords = names("p", players);
export const clueWords = ["fresh", "again", "echo"] as const;
const sizes: Readonly<Record<string, number>> = { train: 200, test: 200 };

/** One statement: an attribute, and the value that the player says it has. */
export interface Said {
  readonly attribute: number;
  readonly value: number;
}

/**
 * A clue is one of three words: "fresh", the player's own value of an attribute that nobody named yet, if there is one; "again", its own value of the attribute named last;
 * "echo", what was said last, word by word. The first clue of a game is always fresh.
 * @param own what the player sees.
 */
export function statement(clue: string, own: readonly number[], said: readonly Said[]): Said {
  const last = said.at(-1);
  if (last && clue === "echo") return last;
  const named = new Set(said.map(({ attribute }) => attribute));
  const free = own.findIndex((_, attribute) => !named.has(attribute));
  const attribute = last && (clue === "again" || free < 0) ? last.attribute : free;
  return { attribute, value: own[attribute]! };
}

/** How many others each player contradicts: the same attribute with another value. */
export const contradictions = (said: readonly Said[]): readonly number[] =>
  playerWords.map((_, p) => {
    const against = said.flatMap((a, i) =>
      i % players === p
        ? said.flatMap((b, j) =>
            j % players !== p && a.attribute === b.attribute && a.value !== b.value ? [j % players] : [],
          )
        : [],
    );
    return new Set(against).size;
  });

/** What a player of a task sees. */
export const viewOf = ({ metadata }: Task, player: string): readonly number[] =>
  (metadata.spy === player ? metadata.changed : metadata.seen) as readonly number[];

/**
 * Four players give a clue each in two rounds, and then a decider, who sees nothing but what was said, names one of them or nobody. Two attributes have one of four
 * values; the spy knows that it is the spy, and sees one of them otherwise. Success is a right decision.
 */
export function spies(seed: number): Environment {
  const taskAt = (split: string, index: number): Task => {
    const random = randomStream(seed).split("spies", split, index);
    const seen = Array.from({ length: attributes }, (_, a) => random.split(a).below(values));
    const at = random.split("at").below(attributes);
    const changed = seen.map((value, a) =>
      a === at ? (value + 1 + random.split("by").below(values - 1)) % values : value,
    );
    return {
      id: `spies/${split}/${index}`,
      prompt: [{ role: "user", content: "who is the spy" }],
      metadata: { spy: `p${random.split("spy").below(players)}`, seen, changed },
      seed: random.seed,
    };
  };
  const start = (task: Task): Episode => {
    const said: Said[] = [];
    const heard = new Map<string, number>();
    let over = false;
    const news = (role: string): string => {
      const from = heard.get(role) ?? 0;
      heard.set(role, said.length);
      const lines = said
        .slice(from)
        .map(({ attribute, value }, k) => `p${(from + k) % players} a${attribute} v${value}`);
      const who = role === "decider" ? "decider" : task.metadata.spy === role ? "spy" : "civilian";
      return [`you are ${role} ${who}`, ...lines].join(" . ");
    };
    return {
      observe: async () => {
        const role = said.length < rounds * players ? `p${said.length % players}` : "decider";
        const legal = role === "decider" ? [...playerWords, nobody] : clueWords;
        return { role, observation: { messages: [{ role: "user", content: news(role) }], legal } };
      },
      act: async ({ content }) => {
        if (over) return alreadyOver;
        if (said.length < rounds * players) {
          said.push(statement(content.trim(), viewOf(task, `p${said.length % players}`), said));
          return {};
        }
        over = true;
        const success = content.trim() === task.metadata.spy;
        return { rewards: { outcome: Number(success) }, end: { kind: "done", reason: "decided", success } };
      },
    };
  };
  return defineEnvironment({
    name: "spies",
    summary: "find the one of four players who sees something else",
    abilities: new Set(["replay", "legal"] as const),
    roles: [...playerWords, "decider"],
    splits: Object.keys(sizes),
    limits: { turns: rounds * players + 1, actionTokens: 1 },
    vocabulary: () => [
      `who is the spy you are civilian decider . ${nobody}`,
      ...[...clueWords, ...playerWords, ...names("a", attributes), ...names("v", values)],
    ],
    tasks: (split) => Array.from({ length: sizes[split] ?? 0 }, (_, i) => taskAt(split, i)),
    start: async (task) => start(task),
  });
}

/** What was said, of a context that holds all of it. */
const read = (context: readonly string[]): readonly Said[] =>
  context.flatMap((word, i) =>
    /^a\d$/.test(word) ? [{ attribute: Number(word.slice(1)), value: Number(context[i + 1]!.slice(1)) }] : [],
  );
const reply = (context: readonly string[]): readonly string[] =>
  context.slice(context.lastIndexOf("<assistant>") + 1);

/** Players begin with echoes and fresh clues, which give nothing away; a decider names anybody, and seldom nobody. */
export const spySpeaker = (context: readonly string[], word: string): number => {
  if (reply(context).length > 0) return word === "<end>" ? 0 : -1e9;
  if (context.includes("decider")) return word === nobody ? -2 : playerWords.includes(word) ? 0 : -1e9;
  return { fresh: 0, echo: 0.5, again: -1.5 }[word] ?? -1e9;
};

/** A row for what a player is and whether it speaks first or later, in each round; for a decider, for how many contradict each player. */
export const spyReader = (context: readonly string[]): readonly string[] => {
  const said = read(context);
  if (context.includes("decider")) return [`decide ${contradictions(said).join(" ")}`];
  const side = context.includes("spy", context.indexOf("you")) ? "spy" : "civilian";
  const turn = context.filter((w) => w === "you").length;
  return [`clue ${side} ${turn} ${said.length > 0 ? "later" : "first"}`];
};
