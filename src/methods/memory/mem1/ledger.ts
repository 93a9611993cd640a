/** Several questions in one task, each answered on its own page among distractor words; all answers are due at the end. */
import { randomStream, shuffled } from "../../../core/random.ts";
import type { Task, Trajectory } from "../../../core/types.ts";
import { demand, isWhole } from "../../../env/demand.ts";
import { alreadyOver, defineEnvironment, type Environment, type Episode } from "../../../env/environment.ts";

/** Settings of {@link ledger}. */
export interface LedgerOptions {
  /** Questions per task, one page each; 1 to 8. Default 2. */
  readonly questions?: number;
  /** Distractor words on a page, 0 to 8. Default 6. */
  readonly noise?: number;
  /** Fewest distractor words on a page, where pages differ in length; all numbers up to `noise` are equally likely. Default `noise`. */
  readonly fewest?: number;
  /** Tasks per split. Default 64. */
  readonly tasks?: number;
  /** Default 1. */
  readonly seed?: number;
}

/** The values that a task asks for, in the order of its pages. */
export const valuesAsked = (task: Task): readonly string[] => task.metadata.values as readonly string[];

const kinds = 8;
const values = Array.from({ length: kinds }, (_, i) => `v${i}`);
const chatter = Array.from({ length: kinds }, (_, i) => `n${i}`);

/** Share of the requested values among an answer's first n words, n: number of questions. */
function shareOf(task: Task, answer: string): number {
  const asked = valuesAsked(task);
  const said = new Set(answer.trim().split(/\s+/).slice(0, asked.length));
  return asked.filter((value) => said.has(value)).length / asked.length;
}

/**
 * `next` turns to the next page, which holds one value out of eight (`v0`…`v7`, none twice in a task) among distractor
 * words (`n0`…`n7`), in a random order. Any other action is the answer, a list of values in any order, and ends the
 * episode. Its reward `outcome` is the share of all pages' values among its first words, as many as there are questions.
 * After the last page `next` shows nothing more.
 */
export function ledger(options: LedgerOptions = {}): Environment {
  const { questions = 2, noise = 6, fewest = noise, tasks = 64, seed = 1 } = options;
  demand(isWhole(questions, 1, kinds), "ledger: questions", questions, `a whole number from 1 to ${kinds}`);
  demand(isWhole(noise, 0, kinds), "ledger: noise", noise, `a whole number from 0 to ${kinds}`);
  demand(isWhole(fewest, 0, noise), "ledger: fewest", fewest, `a whole number from 0 to ${noise}`);
  const splits = ["train", "validation", "test"] as const;
  const turns = questions + 1;

  function taskAt(split: string, index: number): Task {
    const random = randomStream(seed).split("ledger", split, questions, index);
    return {
      id: `ledger-${questions}/${split}/${index}`,
      prompt: [{ role: "user", content: `questions ${questions}` }],
      metadata: { values: shuffled(values, random.split("values")).slice(0, questions) },
      seed: random.seed,
    };
  }

  function pageOf(task: Task, page: number): string {
    const value = valuesAsked(task)[page];
    if (value === undefined) return "nothing";
    const random = randomStream(task.seed).split("page", page);
    const length = fewest + random.split("length").below(noise - fewest + 1);
    return shuffled([value, ...shuffled(chatter, random).slice(0, length)], random.split("order")).join(" ");
  }

  function start(task: Task): Episode {
    let page = 0;
    let ended = false;
    return {
      async observe() {
        const messages = page === 0 ? [] : [{ role: "user" as const, content: pageOf(task, page - 1) }];
        return { role: "agent", observation: { messages, stateKey: `${task.id} ${page}` } };
      },
      async act({ content }) {
        if (ended) return alreadyOver;
        if (content.trim() === "next") {
          page++;
          return {};
        }
        ended = true;
        const outcome = shareOf(task, content);
        const success = outcome === 1;
        return { rewards: { outcome }, end: { kind: "done", reason: "answered", success } };
      },
    };
  }

  return defineEnvironment({
    name: "ledger",
    summary: "turn the pages, each with one value among chatter, and list all the values at the end",
    abilities: new Set(["replay", "stateKey", "expert"] as const),
    roles: ["agent"],
    splits,
    limits: { turns, actionTokens: kinds + 1 },
    tasks: (split) =>
      splits.some((s) => s === split) ? Array.from({ length: tasks }, (_, i) => taskAt(split, i)) : [],
    vocabulary: () => [...values, ...chatter, "next nothing", `questions ${questions}`],
    expert: (task, conversation) => {
      const turned = conversation.filter(({ role }) => role === "assistant").length;
      return turned < questions ? "next" : valuesAsked(task).join(" ");
    },
    start: async (task) => start(task),
    verify: async (task, trajectory: Trajectory) => {
      const last = trajectory.turns.at(-1)?.action.content ?? "next";
      return { outcome: last.trim() === "next" ? 0 : shareOf(task, last) };
    },
  });
}
