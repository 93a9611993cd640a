/** Derives examples, lessons and hints from production feedback, for learners without weights. Each names its signal. */
import { situationOf } from "../common/artefacts/applyArtefact.ts";
import type { Hint } from "../common/text/hints.ts";
import type { Example, LibraryEntry, Origins } from "../core/artefact.ts";
import type { ReceivedSignal } from "../core/served.ts";
import type { TrainingExample } from "../core/trainingExamples.ts";
import type { Message, Trajectory } from "../core/types.ts";
import { type Answers, anyMatches, type ExampleFilter, replyOf, trainingExamplesFrom } from "./derived.ts";
import { servedSessions } from "./sessions.ts";
import { provenance } from "./singleReplies.ts";

/**
 * What a learner without weights can take from one piece of feedback: an example, a lesson for an experience library, or a
 * hint for a rewriter of instructions.
 */
export type ArtefactExample =
  | { readonly kind: "example"; readonly example: Example }
  | { readonly kind: "entry"; readonly entry: LibraryEntry }
  | { readonly kind: "hint"; readonly hint: Hint };

/**
 * Derives teachings from feedback on the matching responses:
 *
 * - a correction or demonstration is an example: the last question, and the right reply;
 * - a correction or preference is a lesson, which says what to write instead of what was written, and a hint;
 * - a reaction, or a rating on a scale, is a hint; so is a comment, which may be about several replies.
 *
 * Signals that reviewers rejected, or that their giver later changed, are left out. Texts are as they were stored.
 */
export async function* artefactExamplesFrom(
  production: Answers,
  filter: ExampleFilter = {},
): AsyncGenerator<ArtefactExample> {
  const kinds = ["pair", "demonstration", "rating"] as const;
  for await (const made of trainingExamplesFrom(production, { ...filter, kinds })) {
    if (made.kind !== "dropped" && made.kind !== "conversation") yield* ofLesson(made);
  }
  const { channel } = filter;
  const withSignal = { kinds: ["critique"] as const, ...(channel === undefined ? {} : { channel }) };
  for await (const session of servedSessions(production, { ...filter, withSignal })) {
    for (const signal of session.signals) {
      if (!isComment(signal) || session.rejected.has(signal.id)) continue;
      if (channel !== undefined && channel !== signal.channel) continue;
      const [target] = signal.about;
      const reply = target && (await replyOf(target, session, production));
      if (!reply || !(await anyMatches([reply], session, production, filter))) continue;
      const origins = { by: "comment", from: provenance(signal, [reply]), trajectories: [] };
      const { prompt } = reply.response;
      const { content } = reply.given.message;
      yield hint({ id: signal.id, kind: "comment", prompt, reply: content, said: signal.text, origins });
    }
  }
}

const isComment = (signal: ReceivedSignal): signal is ReceivedSignal & { readonly text: string } =>
  signal.kind === "critique" && signal.text !== undefined && signal.text.trim() !== "";

const hint = (made: Hint): ArtefactExample => ({ kind: "hint", hint: made });

function* ofLesson(lesson: Exclude<TrainingExample, { kind: "conversation" }>): Generator<ArtefactExample> {
  const origins = (by: string): Origins => ({ by, from: lesson.from, trajectories: [] });
  const { id } = lesson;
  switch (lesson.kind) {
    case "demonstration": {
      const { prompt, action } = last(lesson.shown);
      const asked = prompt.findLast(({ role }) => role === "user");
      if (!asked) return;
      yield { kind: "example", example: { id, messages: [asked, action], origins: origins("correction") } };
      return;
    }
    case "pair": {
      const { prompt, action } = last(lesson.rejected);
      const better = last(lesson.chosen).action.content;
      const kind = lesson.chosen.origin === "demonstrated" ? "correction" : "preference";
      const text = `rather than "${action.content}" write "${better}"`;
      yield {
        kind: "entry",
        entry: {
          id,
          kind: "strategy",
          when: situationOf(prompt),
          text,
          score: lesson.strength,
          shown: 0,
          origins: origins(kind),
        },
      };
      yield hint({ id, kind, prompt, reply: action.content, said: better, origins: origins(kind) });
      return;
    }
    case "rating": {
      const { prompt, action } = last(lesson.reply);
      const said = lesson.good ? "good" : "bad";
      yield hint({ id, kind: "reaction", prompt, reply: action.content, said, origins: origins("reaction") });
      return;
    }
  }
}

const silence: Message = { role: "assistant", content: "" };
const last = ({ turns }: Trajectory): { readonly prompt: readonly Message[]; readonly action: Message } =>
  turns.at(-1) ?? { prompt: [], action: silence };
