/** Scripted players of the facts environment: one that solves every task, one with the gaps of gaps.ts. */
import type { Message, Task } from "../../core/words.ts";
import type { Player } from "../environment.ts";
import { gapOf } from "./gaps.ts";
import { askedBy } from "./questions.ts";
import { isRelation, type Relation } from "./world.ts";

/** How far a conversation has come, read from what the environment said. */
export interface Progress {
  readonly task: Task;
  /** The name that the next look-up is about. */
  readonly current: string;
  /** Relations still to be looked up. */
  readonly left: readonly Relation[];
  /** The last reply of the environment, "" at the start. */
  readonly last: string;
}

export function progress(task: Task, conversation: readonly Message[]): Progress {
  const { entity, path } = askedBy(task);
  let current = entity;
  let left = path;
  const said = conversation.slice(task.prompt.length).filter((m) => m.role !== "assistant");
  for (const { content } of said) {
    const fact = /^(\w+) of (.+) : (.+)$/.exec(content);
    const alias = /^(.+) : other name of (.+)$/.exec(content);
    if (alias !== null && alias[1] === current) current = alias[2]!;
    else if (fact !== null && fact[2] === current && isRelation(fact[1]!)) {
      if (fact[1] === left[0]) left = left.slice(1);
      else if (fact[1] !== "country" || left.length === 0) continue;
      current = fact[3]!;
    }
  }
  return { task, current, left, last: said.at(-1)?.content ?? "" };
}

/** The right next action. */
export function nextMove({ current, left, last }: Progress): string {
  if (last === `no entry for ${current} . try search`) return `search ${current}`;
  if (last === `${current} is a city , not a country`) return `lookup country of ${current}`;
  return left.length === 0 ? `answer ${current}` : `lookup ${left[0]!} of ${current}`;
}

export const expert: Player = (task, conversation) => nextMove(progress(task, conversation));

export const flawed: Player = (task, conversation) => {
  const now = progress(task, conversation);
  return gapOf(task)?.instead(now) ?? nextMove(now);
};
