/** Writers of lessons from an episode, and the message in which lessons are shown. */
import { z } from "zod";
import { abridged } from "../../../common/text/abridged.ts";
import { transcript } from "../../../common/text/transcript.ts";
import { type Chat, unlessFailed } from "../../../core/chat.ts";
import type { Message, Trajectory } from "../../../core/types.ts";
import type { TrainingExampleKind } from "./library.ts";

/** A lesson for the observation before one of the turns. */
export interface Written {
  readonly turn: number;
  readonly text: string;
}

/** Strategies are written from successful episodes, warnings from unsuccessful ones. */
export type LessonWriter = (
  t: Trajectory,
  kind: TrainingExampleKind,
) => readonly Written[] | Promise<readonly Written[]>;

/**
 * Lessons without a model, for environments with short actions: a strategy is the action after which the agent did not
 * return to an observation, a warning an action that left the observation unchanged.
 */
export const turnLessons: LessonWriter = (t, kind) => {
  const seen = t.turns.map((_, k) => seenAt(t, k));
  return t.turns.flatMap(({ action }, turn) => {
    const worth =
      kind === "strategy" ? seen.lastIndexOf(seen[turn]!) === turn : seen[turn + 1] === seen[turn];
    return worth ? [{ turn, text: action.content }] : [];
  });
};

const reply = z.object({
  lessons: z.array(z.object({ turn: z.int().min(1), lesson: z.string().min(1) })),
});

/** Most characters of an episode that the model reads, so that they fit its context. */
const mostRead = 12_000;

/**
 * Lessons written by a model that reads the episode. A malformed reply or a provider failure gives no lessons. A spent
 * budget stops the run. @param most number of lessons per episode.
 */
export const chatLessons =
  (chat: Chat, most = 3): LessonWriter =>
  async (t, kind) => {
    const wish =
      kind === "strategy"
        ? `This attempt went well. Name up to ${most} of its turns that mattered, and for each the principle to follow and how to do it.`
        : `This attempt went badly. Name up to ${most} of its turns that went wrong, and for each the mistake, how to notice it, and what to do instead.`;
    const form =
      'Answer as JSON: {"lessons": [{"turn": 1, "lesson": "…"}]}. A lesson is read at places like that one, by somebody who knows nothing of this attempt.';
    const content = [wish, form, abridged(transcript(t), mostRead)].join("\n\n");
    const said = await chat.ask({ messages: [{ role: "user", content }] }, reply).catch(unlessFailed);
    return (said?.lessons ?? [])
      .filter(({ turn }) => turn <= t.turns.length)
      .slice(0, most)
      .map(({ turn, lesson }) => ({ turn: turn - 1, text: lesson }));
  };

/** Texts around the lessons in the prompt. */
export const lessonWords = ["Lessons :", "do at", "beware at", ":", "\n"] as const;
const [heading, doAt, bewareAt, colon] = lessonWords;

/**
 * Lessons as a message, each with the observation it was learnt from, since the message stays in the context later.
 * Lessons beyond `characters` are left out; without lessons there is no message.
 */
export function messagesOf(
  lessons: readonly { readonly kind: TrainingExampleKind; readonly when: string; readonly text: string }[],
  characters = 800,
): readonly Message[] {
  let content: string = heading;
  for (const { kind, when, text } of lessons) {
    const line = `\n${kind === "strategy" ? doAt : bewareAt} ${when} ${colon} ${text}`;
    if (content.length + line.length <= characters) content += line;
  }
  return content === heading ? [] : [{ role: "user", content }];
}

/** The agent's last observation before it acted, without the lessons. */
export const seenAt = ({ turns }: Pick<Trajectory, "turns">, turn: number): string =>
  lastSeen(turns[turn]?.prompt ?? []);

/** The last message that is not a lesson message. */
export const lastSeen = (messages: readonly Message[]): string =>
  messages.findLast(({ content }) => !content.startsWith(heading))?.content ?? "";
