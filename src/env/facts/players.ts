/** Scripted players of the facts environment: one that solves every task, one with the gaps of gaps.ts. */
import type { Message, Task } from "../../core/types.ts";
import type { Player } from "../environment.ts";
import { gapOf, type Progress } from "./gaps.ts";
import { askedBy } from "./questions.ts";
import { entries, isRelation } from "./world.ts";

export function progress(task: Task, conversation: readonly Message[]): Progress {
  const { entity, path } = askedBy(task);
  let current = entity;
  let left = path;
  let command = "";
  let last = "";
  for (const { role, content } of conversation.slice(task.prompt.length)) {
    if (role === "assistant") {
      command = content;
      continue;
    }
    last = content;
    const [, relation, name] = /^lookup (\w+) of (.+)$/.exec(command) ?? [];
    const alias = /^other name of (.+)$/.exec(content);
    if (alias !== null && command === `search ${current}`) current = alias[1]!;
    else if (relation !== undefined && name === current && isFact(relation, name, content)) {
      if (relation === left[0]) left = left.slice(1);
      else if (relation !== "country" || left.length === 0) continue;
      current = content;
    }
  }
  return { task, current, left, command, last };
}

const isFact = (relation: string, name: string, value: string): boolean =>
  isRelation(relation) && entries.get(name)?.facts[relation]?.[0] === value;

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
