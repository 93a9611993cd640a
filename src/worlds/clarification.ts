/** A user whose first request states only a part of their intent. The agent has to ask for the rest, and for no more. */

import { randomStream } from "../core/random.ts";
import type { Message, Task, Trajectory } from "../core/types.ts";
import { demand, isWhole } from "../env/demand.ts";
import {
  alreadyOver,
  defineEnvironment,
  type Environment,
  type Episode,
  type Step,
} from "../env/environment.ts";
import { intentOf } from "./intent.ts";

/** Settings of {@link clarification}. */
export interface ClarificationOptions {
  /** Number of users per split. Default 64. */
  readonly users?: number;
  /** Probability that each slot matters to a user; one number per slot, at most eight. Default 1, 1, 0.5, 0.1. */
  readonly matters?: readonly number[];
  /** Number of values of a slot. Default 3. */
  readonly values?: number;
  /** Share of users who state everything that matters at once, in [0, 1]. Default 0.4. */
  readonly complete?: number;
  /** Probability that the other users state each slot that matters. Default 0.5. */
  readonly said?: number;
  /** Probability that a question is answered; otherwise the user is not sure yet and can be asked again. Default 1. */
  readonly sure?: number;
  /** Number of irrelevant questions, `n0`, `n1`… Default 0. */
  readonly smallTalk?: number;
  /** When the call is made: when the agent submits, or also automatically once nothing that matters is open. Default "submit". */
  readonly ends?: "submit" | "known";
  /** Action limit of an episode. Default 8. */
  readonly turns?: number;
  /** Default 1. */
  readonly seed?: number;
}

const slotNames = ["place", "date", "people", "budget", "colour", "style", "sound", "light"] as const;

/**
 * The observation is a form, `place v1 date open people any budget open`: stated values, open slots, and slots where the user
 * accepts any value. `ask date` is answered truthfully in `text` (`date v2`, `date any`, `not sure`) and fills in the form;
 * the user states nothing unasked. `submit` makes the call with the form's values: it is right, and pays 1, unless a slot
 * that matters to this user is open. Which slots matter is hidden.
 */
export function clarification(options: ClarificationOptions = {}): Environment {
  const { users = 64, matters = [1, 1, 0.5, 0.1], values = 3, complete = 0.4, said = 0.5 } = options;
  const { sure = 1, smallTalk = 0, ends = "submit", turns = 8, seed = 1 } = options;
  demand(isWhole(users, 1, 1e6), "clarification: users", users, "a whole number from 1 on");
  demand(isWhole(values, 2, 100), "clarification: values", values, "a whole number from 2 to 100");
  demand(
    isWhole(matters.length, 1, slotNames.length) && matters.every((p) => p >= 0 && p <= 1),
    "clarification: matters",
    matters,
    "one to eight numbers from 0 to 1",
  );
  const names = slotNames.slice(0, matters.length);
  const words = Array.from({ length: values }, (_, v) => `v${v}`);
  const slots = Object.fromEntries(names.map((slot) => [slot, words]));
  const splits = ["train", "validation", "test"];

  function taskAt(split: string, index: number): Task {
    const random = randomStream(seed).split("clarification", split, index);
    const told = random.split("complete").next() < complete;
    const needed = names.filter((slot, k) => random.split(slot, "matters").next() < matters[k]!);
    const goal = Object.fromEntries(needed.map((slot) => [slot, words[random.split(slot).below(values)]!]));
    const missing = told ? [] : needed.filter((slot) => random.split(slot, "said").next() >= said);
    const known = new Map(needed.filter((s) => !missing.includes(s)).map((s) => [s, goal[s]!]));
    return {
      id: `clarification/${split}/${index}`,
      prompt: [{ role: "user", content: formOf(known) }],
      metadata: { slots, goal, missing },
      seed: random.seed,
    };
  }

  const formOf = (known: ReadonlyMap<string, string>): string =>
    names.map((slot) => `${slot} ${known.get(slot) ?? "open"}`).join(" ");

  function start(task: Task): Episode {
    const { goal, missing } = intentOf(task);
    const actions: string[] = [];
    const known = new Map(Object.entries(goal).filter(([slot]) => !missing.includes(slot)));
    let over = false;
    const open = (): readonly string[] => missing.filter((slot) => !known.has(slot));

    /** The user's answer. Whether they are sure depends on how often the slot was asked for. */
    function answer(about: string): string {
      if (/^n\d+$/.test(about)) return "fine";
      if (!Object.hasOwn(slots, about)) return "pardon";
      const times = actions.filter((action) => action === `ask ${about}`).length;
      if (randomStream(task.seed).split(about, "sure", times).next() >= sure) return "not sure";
      const value = goal[about] ?? "any";
      known.set(about, value);
      return `${about} ${value}`;
    }

    function act(action: string): Step {
      if (over) return alreadyOver;
      actions.push(action);
      const [verb, about = "", ...rest] = action.split(/\s+/);
      const submits = action === "submit";
      const text = submits
        ? open().length === 0
          ? "thanks"
          : `${open().join(" ")} missing`
        : verb === "ask" && rest.length === 0
          ? answer(about)
          : "pardon";
      over = submits || (ends === "known" && open().length === 0);
      if (over) {
        const success = open().length === 0;
        const reason = success ? "right call" : "wrong call";
        return { rewards: { outcome: Number(success) }, text, end: { kind: "done", reason, success } };
      }
      if (actions.length < turns) return { text };
      over = true;
      return { rewards: { outcome: 0 }, text, end: { kind: "truncated", limit: "turns", at: turns } };
    }

    return {
      async observe() {
        const content = formOf(known);
        const messages: readonly Message[] = actions.length === 0 ? [] : [{ role: "user", content }];
        return { role: "agent", observation: { messages, stateKey: content } };
      },
      act: async ({ content }) => act(content.trim()),
    };
  }

  return defineEnvironment({
    name: "clarification",
    summary: "make a call for a user who left things out: ask what matters and is open, then submit",
    abilities: new Set(["replay", "stateKey", "expert"] as const),
    roles: ["agent"],
    splits,
    limits: { turns, actionTokens: 2 },
    tasks: (split) =>
      splits.includes(split) ? Array.from({ length: users }, (_, index) => taskAt(split, index)) : [],
    start: async (task) => start(task),
    vocabulary: () => [
      "ask submit open any not sure fine pardon thanks missing",
      ...names,
      ...words,
      ...Array.from({ length: smallTalk }, (_, n) => `n${n}`),
    ],
    expert: (task, conversation) => {
      const form = conversation.findLast((m) => m.role === "user")?.content ?? "";
      const next = intentOf(task).missing.find((slot) => form.includes(`${slot} open`));
      return next === undefined ? "submit" : `ask ${next}`;
    },
    flawed: () => "submit",
    async verify(task: Task, { turns: played }: Trajectory) {
      const episode = start(task);
      let outcome = 0;
      for (const { action } of played)
        outcome += (await episode.act({ content: action.content, stop: "eos" })).rewards?.outcome ?? 0;
      return { outcome };
    },
  });
}
