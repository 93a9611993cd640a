/** Privileged context: information on an attempt that the teacher gets and the student did not have. */

import type { Ctx } from "../../core/context.ts";
import { type Able, evaluatorIn } from "../../core/evaluator.ts";
import type { Experience } from "../../core/slots.ts";
import { type Message, succeeded, type Task, type Trajectory } from "../../core/types.ts";
import { withoutBlocks } from "../text/blocks.ts";

/** The privileged context of a trajectory; undefined where there is none. */
export type PrivilegedContext = (
  ctx: Ctx,
  t: Trajectory,
  experience: Experience,
) => Promise<string | undefined>;

/** The first of these that is defined for the trajectory. */
export const firstOf =
  (...contexts: readonly PrivilegedContext[]): PrivilegedContext =>
  async (ctx, t, experience) => {
    for (const context of contexts) {
      const text = await context(ctx, t, experience);
      if (text !== undefined) return text;
    }
    return undefined;
  };

/**
 * The actions of the first other successful attempt of its group, turn by turn; undefined where no other succeeded.
 * @param shown the part of an action to show. Default: all except text between `<think>` and `</think>`.
 */
export const siblingSolution =
  (shown: (action: string) => string = withoutThoughts): PrivilegedContext =>
  async (_ctx, t, { trajectories, units }) => {
    const group = units.find((u) => u.members.includes(t.id))?.group;
    const siblings = new Set(units.filter((u) => u.group === group).flatMap((u) => u.members));
    const solved = trajectories.find(
      (other) => other.id !== t.id && siblings.has(other.id) && succeeded(other),
    );
    return solved?.turns.map(({ action }) => shown(action.content)).join("\n");
  };

const withoutThoughts = (text: string): string =>
  withoutBlocks(text, /<think>/g, () => "</think>").rest.trim();

/** The environment's feedback text on its actions, without observations; undefined where there is none. */
export const environmentText: PrivilegedContext = async (_ctx, { turns }) => {
  const said = turns.flatMap(({ text }) => text ?? []);
  return said.length > 0 ? said.join("\n") : undefined;
};

/** The critique from the rollout; without one, that of the given critiquer, if any. */
export const critiqueText =
  (critiquer?: Able<"critique">): PrivilegedContext =>
  async (ctx, t, { critiques }) => {
    const known = critiques?.get(t.id);
    if (known || !critiquer) return known?.text;
    return (await evaluatorIn(ctx, critiquer).critique(t, ctx.random.split("critique", t.id)))?.text;
  };

/** The task's reference answer. */
export const referenceAnswer: PrivilegedContext = async (ctx, { task }) => ctx.task(task).reference;

/** Inserts a user message right after the task's prompt. */
export const insertedAfterTask = (
  messages: readonly Message[],
  text: string,
  { prompt }: Pick<Task, "prompt">,
): readonly Message[] => [
  ...messages.slice(0, prompt.length),
  { role: "user", content: text },
  ...messages.slice(prompt.length),
];
