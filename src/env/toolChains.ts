/** Tool composition: choose typed tools, in the right order, that turn the inputs into the requested output. */
import { type Random, randomStream, shuffled } from "../core/random.ts";
import type { Message, Task, Trajectory } from "../core/types.ts";
import { alreadyOver, defineEnvironment, type Environment, type Episode, type Step } from "./environment.ts";

/** Settings of {@link toolChains}. */
export interface ToolChainsOptions {
  /** Tasks per split, each with another chain; at most half of all chains. Default 16. */
  readonly tasks?: number;
  /** Largest number of tools in a chain, 2 to 4. Default 4. */
  readonly longest?: number;
  /** Number of inputs that every chain is run on. Default 4. */
  readonly inputs?: number;
  /** Seed of the chains and the inputs. Default 1. */
  readonly seed?: number;
}

/** Type of a tool's input or output: a line of text, a list of words, or a number. All are written as words. */
type Kind = "text" | "words" | "number";

interface ChainTool {
  readonly takes: Kind;
  readonly gives: Kind;
  /** How a task asks for it. */
  readonly asked: string;
  run(words: readonly string[]): readonly string[];
}

const numbers = ["zero", "one", "two", "three", "four", "five", "six"];

/** The eight tools; none throws on any input. */
const tools = {
  upper: {
    takes: "text",
    gives: "text",
    asked: "in capitals",
    run: (words) => words.map((w) => w.toUpperCase()),
  },
  split: {
    takes: "text",
    gives: "words",
    asked: "taken apart",
    run: (words) => words.flatMap((w) => w.split("-")),
  },
  join: { takes: "words", gives: "text", asked: "as one line", run: (words) => [words.join("-")] },
  reverse: { takes: "words", gives: "words", asked: "backwards", run: (words) => words.toReversed() },
  sort: { takes: "words", gives: "words", asked: "in order", run: (words) => words.toSorted() },
  unique: { takes: "words", gives: "words", asked: "each once", run: (words) => [...new Set(words)] },
  count: { takes: "words", gives: "number", asked: "how many", run: (words) => [String(words.length)] },
  spell: {
    takes: "number",
    gives: "text",
    asked: "spelled out",
    run: ([n]) => [numbers[Number(n)] ?? "many"],
  },
} as const satisfies Readonly<Record<string, ChainTool>>;

type ToolName = keyof typeof tools;
const names = Object.keys(tools).filter((name): name is ToolName => name in tools);
/** All actions: the tools' names, and the end of the chain. */
export const chainWords: readonly string[] = [...names, "stop"];
const isTool = (word: string): word is ToolName => Object.hasOwn(tools, word);

const fruit = ["pear", "apple", "fig", "plum", "kiwi"];

/** The output of a chain and its kind; undefined where the chain is ill-typed. */
function ran(chain: readonly ToolName[], input: readonly string[]) {
  let [kind, words]: [Kind, readonly string[]] = ["text", input];
  for (const name of chain) {
    const tool: ChainTool = tools[name];
    if (tool.takes !== kind) return undefined;
    [kind, words] = [tool.gives, tool.run(words)];
  }
  return { kind, words };
}

/** The kind that a chain ends in; undefined where it is ill-typed. */
const kindAfter = (chain: readonly ToolName[]): Kind | undefined => ran(chain, [])?.kind;

/** Tools that may come next. */
const fitting = (chain: readonly ToolName[]): readonly ToolName[] =>
  names.filter((name) => tools[name].takes === kindAfter(chain));

/** Share of positions with the same word in both outputs, relative to the longer one; 0 where their kinds differ. */
function agreement(a: ReturnType<typeof ran>, b: ReturnType<typeof ran>): number {
  if (!a || !b || a.kind !== b.kind) return 0;
  const length = Math.max(a.words.length, b.words.length);
  let same = 0;
  for (let i = 0; i < length; i++) if (a.words[i] === b.words[i]) same++;
  return length === 0 ? 1 : same / length;
}

/** Well-typed chains of up to `longest` tools, shorter ones first; among chains with equal outputs, only the shortest. */
function allChains(
  longest: number,
  inputs: readonly (readonly string[])[],
): readonly (readonly ToolName[])[] {
  const made = new Set<string>();
  const out: (readonly ToolName[])[] = [];
  let level: readonly (readonly ToolName[])[] = [[]];
  for (let length = 0; length <= longest; length++) {
    for (const chain of level) {
      const results = inputs.map((input) => ran(chain, input));
      const signature = JSON.stringify(results);
      if (made.has(signature)) continue;
      made.add(signature);
      out.push(chain);
    }
    level = level.flatMap((chain) => fitting(chain).map((name) => [...chain, name]));
  }
  return out;
}

const inputsOf = (task: Task): readonly (readonly string[])[] =>
  (task.metadata.inputs as readonly string[]).map((text) => text.split(" "));
const chainOf = (task: Task): readonly ToolName[] => (task.reference ?? "").split(" ").filter(isTool);

/** Reward of a chain: the mean agreement with the reference chain over all inputs, −1 where it is ill-typed. */
function worth(task: Task, chain: readonly ToolName[]): number {
  if (kindAfter(chain) === undefined) return -1;
  const inputs = inputsOf(task);
  const sum = inputs.reduce((s, input) => s + agreement(ran(chain, input), ran(chainOf(task), input)), 0);
  return sum / inputs.length;
}

/** An input of four words, one of which occurs twice. */
function line(random: Random): string {
  const some = shuffled(fruit, random).slice(0, 3);
  return shuffled([...some, some[random.below(3)]!], random).join(" ");
}

/** Number of tools chosen in a conversation. */
const made = (conversation: readonly Message[]): number =>
  conversation.filter((m) => m.role === "assistant").length;

/**
 * One tool a turn, then `stop`, which runs the chain on every input of the task. `outcome` is the mean over inputs of
 * the share of positions at which the result equals that of the reference chain, in [0, 1], and −1 for an ill-typed chain,
 * which ends the episode at once, as does a word that is no tool. Full agreement is success, with any chain. The
 * observation lists the well-typed next tools as `legal`, so a constrained policy makes no ill-typed chain. It shows only
 * the current kind, not what tools do. The flawed player leaves out the last tool of the chain. After the paper "OpenAGI:
 * When LLM Meets Domain Experts", with functions on words in place of its models.
 */
export function toolChains(options: ToolChainsOptions = {}): Environment {
  const { tasks = 16, longest = 4, inputs = 4, seed = 1 } = options;
  const random = randomStream(seed).split("tool chains");
  const lines = Array.from({ length: inputs }, (_, i) => line(random.split("input", i)));
  const all = allChains(
    longest,
    lines.map((text) => text.split(" ")),
  );
  const chains = shuffled(
    all.filter((chain) => chain.length >= 2),
    random.split("order"),
  );
  const half = Math.min(tasks, Math.floor(chains.length / 2));
  const splits: Readonly<Record<string, readonly (readonly ToolName[])[]>> = {
    train: chains.slice(0, half),
    test: chains.slice(half, 2 * half),
  };
  const turns = longest + 1;

  function start(task: Task): Episode {
    let chain: readonly ToolName[] = [];
    let ended = false;
    const finish = (outcome: number, reason: string, text?: string): Step => {
      ended = true;
      const success = outcome === 1;
      return { rewards: { outcome }, end: { kind: "done", reason, success }, ...(text ? { text } : {}) };
    };
    const run = (): Step => {
      const outcome = worth(task, chain);
      const results = inputsOf(task).map((input) => [ran(chain, input), ran(chainOf(task), input)] as const);
      const [got, wanted] = results.find(([a, b]) => agreement(a, b) < 1) ?? [];
      const missed = `gave ${got?.words.join(" ")} , not ${wanted?.words.join(" ")}`;
      return finish(outcome, "run", outcome === 1 ? undefined : missed);
    };
    return {
      observe: async () => ({
        role: "agent",
        observation: {
          messages: chain.length === 0 ? [] : [{ role: "user", content: `now ${kindAfter(chain)}` }],
          stateKey: `${task.id} : ${chain.join(" ")}`,
          legal: chain.length === longest ? ["stop"] : [...fitting(chain), "stop"],
        },
      }),
      act: async ({ content }) => {
        if (ended) return alreadyOver;
        const word = content.trim();
        if (word === "stop") return run();
        if (!isTool(word)) return finish(-1, "no tool", "no such tool");
        const kind = kindAfter(chain);
        chain = [...chain, word];
        if (kindAfter(chain) === undefined)
          return finish(-1, "ill-typed", `${word} takes ${tools[word].takes} , not ${kind}`);
        ended = chain.length > longest;
        return ended
          ? { rewards: { outcome: 0 }, end: { kind: "truncated", limit: "turns", at: turns } }
          : {};
      },
    };
  }

  return defineEnvironment({
    name: "tool-chains",
    summary: "chain typed tools so that every input becomes what is asked for",
    abilities: new Set(["replay", "stateKey", "expert", "legal"] as const),
    roles: ["agent"],
    splits: Object.keys(splits),
    limits: { turns, actionTokens: 2 },
    tasks: (split) =>
      (splits[split] ?? []).map(
        (chain, index): Task => ({
          id: `tool-chains/${split}/${index}`,
          prompt: [
            { role: "user", content: `wanted : ${chain.map((name) => tools[name].asked).join(" , ")}` },
          ],
          reference: chain.join(" "),
          metadata: { inputs: lines, length: chain.length },
          seed: index,
        }),
      ),
    start: async (task) => start(task),
    vocabulary: () => [
      ...names,
      ...Object.values(tools).map((t) => t.asked),
      "wanted : now text words number , stop no such tool takes not gave many",
      ...numbers,
      ...all.flatMap((chain) => lines.flatMap((text) => ran(chain, text.split(" "))?.words ?? [])),
    ],
    expert: (task, conversation) => chainOf(task)[made(conversation)] ?? "stop",
    flawed: (task, conversation) => chainOf(task).slice(0, -1)[made(conversation)] ?? "stop",
    async verify(task: Task, { turns: played }: Trajectory) {
      const chain: ToolName[] = [];
      for (const { action } of played.slice(0, turns)) {
        const word = action.content.trim();
        if (word === "stop") return { outcome: worth(task, chain) };
        if (!isTool(word)) return { outcome: -1 };
        chain.push(word);
        if (kindAfter(chain) === undefined) return { outcome: -1 };
      }
      return { outcome: 0 };
    },
  });
}
