/** What a teacher may be told of an attempt that the student could not know. */

import type { Ctx } from "../../core/context.ts";
import type { Critic } from "../../core/critic.ts";
import type { Experience } from "../../core/slots.ts";
import { type Message, succeeded, type Task, type Trajectory } from "../../core/types.ts";
import { withoutBlocks } from "../text/blocks.ts";

/** What is said of a trajectory; undefined where there is nothing to say. */
export type Telling = (ctx: Ctx, t: Trajectory, experience: Experience) => Promise<string | undefined>;

/** The first of these that has something to say. */
export const firstOf =
  (...tellings: readonly Telling[]): Telling =>
  async (ctx, t, experience) => {
    for (const telling of tellings) {
      const text = await telling(ctx, t, experience);
      if (text !== undefined) return text;
    }
    return undefined;
  };

/**
 * What the first successful other attempt of its group wrote, turn by turn; undefined where nobody else succeeded.
 * @param shown what of an action is shown. Default: all but what stands between `<think>` and `</think>`.
 */
export const siblingSolution =
  (shown: (action: string) => string = withoutThoughts): Telling =>
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

/** What the environment said of its actions beside the observations; undefined where it said nothing. */
export const environmentText: Telling = async (_ctx, { turns }) => {
  const said = turns.flatMap(({ text }) => text ?? []);
  return said.length > 0 ? said.join("\n") : undefined;
};

/** What a critic said of it on the way; else what this one says, if there is one. */
export const critiqueText =
  (critic?: Critic): Telling =>
  async (ctx, t, { critiques }) =>
    (critiques?.get(t.id) ?? (await critic?.(ctx, t, ctx.random.split("critique", t.id))))?.text;

/** The task's reference answer. */
export const referenceAnswer: Telling = async (ctx, { task }) => ctx.task(task).reference;

/** A conversation in which something is said by the user right after the task. */
export const toldAfterTask = (
  messages: readonly Message[],
  text: string,
  { prompt }: Pick<Task, "prompt">,
): readonly Message[] => [
  ...messages.slice(0, prompt.length),
  { role: "user", content: text },
  ...messages.slice(prompt.length),
];
