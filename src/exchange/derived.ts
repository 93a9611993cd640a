/** Derives training examples from feedback: pairs, demonstrations and ratings, each with its provenance. */

import type { ReceivedSignal, Target } from "../core/served.ts";
import type { TrainingExample } from "../core/trainingExamples.ts";
import type { Id } from "../core/types.ts";
import type { ResponseFilter, TrafficStore } from "../store/trafficStore.ts";
import { answeredTurns, loggedTrajectory } from "./logged.ts";
import { matchesFilter, type ServedSession, servedSessions } from "./sessions.ts";
import {
  demonstration,
  preferencePair,
  type Reply,
  ratedReply,
  repliedTrajectory,
  writtenTrajectory,
} from "./singleReplies.ts";
import { taskOfPrompt } from "./task.ts";

/** Selects the served traffic to learn from. */
export interface ExampleFilter extends ResponseFilter {
  /** Only feedback on this channel. Default: all channels. */
  readonly channel?: string;
  /** Only feedback that arrived before this time, in milliseconds since 1970. Default: all. */
  readonly heardUntil?: number;
}

/** Feedback that gives no training example, with the reason. */
export interface Dropped {
  readonly kind: "dropped";
  readonly signal: Id;
  /**
   * "same": a correction that only changes blanks, case or punctuation. "duplicate": the same training example came before.
   * "rejected": the latest review rejected it. "overruled": its giver changed it later. "noReply": it is not about a single
   * known reply. "otherPrompt": it compares replies to different prompts.
   */
  readonly why: "same" | "duplicate" | "rejected" | "overruled" | "noReply" | "otherPrompt";
}

/** The part of the store that is read here. */
export type Answers = Pick<TrafficStore, "response" | "responses" | "signals">;

/**
 * All training examples from the matching responses, session by session:
 *
 * - every conversation, with all signals on it;
 * - a correction is a pair (its text preferred to the reply) and a demonstration; if it names a range of characters, its
 *   text replaces that range;
 * - a demonstration is one;
 * - a preference is a pair of its best reply with each of the others, if all answer the same prompt; its strength is the
 *   signal's value if that is a probability, else 1;
 * - a reaction, or a rating on a stated scale, is a rating: good above 0.5, bad below; its giver's last one counts.
 *
 * Reviews are not feedback: signals that they reject give no example. An example that came before, from any user, is dropped.
 * Texts are as they were stored, so redacted parts stay redacted.
 */
export async function* trainingExamplesFrom(
  production: Answers,
  filter: ExampleFilter = {},
): AsyncGenerator<TrainingExample | Dropped> {
  const known = new Set<Id>();
  const heard = new Set<Id>();
  for await (const session of servedSessions(production, filter)) {
    yield* conversations(session, filter);
    const fresh = session.signals.filter(
      ({ id, channel }) => !heard.has(id) && (filter.channel === undefined || filter.channel === channel),
    );
    const overruled = overruledIn(fresh);
    for (const signal of fresh) {
      heard.add(signal.id);
      if (session.rejected.has(signal.id)) yield { kind: "dropped", signal: signal.id, why: "rejected" };
      else if (overruled.has(signal.id)) yield { kind: "dropped", signal: signal.id, why: "overruled" };
      else {
        for (const made of await examplesIn(signal, session, production, filter)) {
          if (made.kind !== "dropped" && known.has(made.id)) {
            yield { kind: "dropped", signal: signal.id, why: "duplicate" };
          } else {
            if (made.kind !== "dropped") known.add(made.id);
            yield made;
          }
        }
      }
    }
  }
}

/**
 * The training examples of one signal, as {@link trainingExamplesFrom} would make them now. Other signals are ignored: neither
 * duplicates nor later changes by its giver are dropped.
 */
export async function examplesOfSignal(
  production: Answers,
  signal: ReceivedSignal,
): Promise<readonly (TrainingExample | Dropped)[]> {
  const [target] = signal.about;
  const response = target?.response === undefined ? undefined : await production.response(target.response);
  const id = response?.session ?? target?.session;
  if (id === undefined) return [{ kind: "dropped", signal: signal.id, why: "noReply" }];
  for await (const session of servedSessions(production, { session: id })) {
    if (session.rejected.has(signal.id)) return [{ kind: "dropped", signal: signal.id, why: "rejected" }];
    return examplesIn(signal, session, production, {});
  }
  return [{ kind: "dropped", signal: signal.id, why: "noReply" }];
}

function* conversations(session: ServedSession, filter: ExampleFilter): Generator<TrainingExample> {
  for (const [id, responses] of session.trajectories) {
    if (!responses.some((response) => matchesFilter(response, filter))) continue;
    const logged = loggedTrajectory(id, session);
    const [first] = logged?.trajectory.turns ?? [];
    if (!logged || !first) continue;
    const signals =
      filter.channel === undefined
        ? logged.signals
        : logged.signals.filter(({ channel }) => channel === filter.channel);
    yield {
      kind: "conversation",
      id,
      task: taskOfPrompt(first.prompt),
      logged: { ...logged, signals },
      from: {
        sessions: [session.id],
        users: logged.user === undefined ? [] : [logged.user],
        responses: logged.responses,
        signals: session.signals.map(({ id }) => id).filter((id) => !session.rejected.has(id)),
      },
    };
  }
}

async function examplesIn(
  signal: ReceivedSignal,
  session: ServedSession,
  production: Answers,
  filter: ExampleFilter,
): Promise<readonly (TrainingExample | Dropped)[]> {
  const dropped = (why: Dropped["why"]): readonly Dropped[] => [{ kind: "dropped", signal: signal.id, why }];
  const { kind, text, value } = signal;
  const wanted =
    kind === "correction" ||
    kind === "demonstration" ||
    kind === "preference" ||
    ratingOf(signal) !== undefined;
  if (!wanted) return [];
  const replies: Reply[] = [];
  for (const target of signal.about) {
    const reply = await replyOf(target, session, production);
    if (!reply) return dropped("noReply");
    replies.push(reply);
  }
  const [first] = replies;
  if (!first) return dropped("noReply");
  if (!replies.some(({ response }) => matchesFilter(response, filter))) return [];
  if (kind === "correction" || kind === "demonstration") {
    if (text === undefined) return dropped("noReply");
    const right = corrected(first.given.message.content, text, signal.about[0]?.characters);
    const shown = demonstration(signal, first, right);
    if (kind === "demonstration") return [shown];
    if (folded(right) === folded(first.given.message.content)) return dropped("same");
    return [
      preferencePair(signal, [first], writtenTrajectory(first, right), repliedTrajectory(first), 1),
      shown,
    ];
  }
  if (kind === "preference") {
    const best = replies[signal.best ?? 0];
    if (!best) return dropped("noReply");
    const task = taskOfPrompt(best.response.prompt).id;
    const strength = value !== undefined && value >= 0 && value <= 1 ? value : 1;
    return replies
      .filter((other) => other !== best)
      .flatMap((other): readonly (TrainingExample | Dropped)[] => {
        if (taskOfPrompt(other.response.prompt).id !== task) return dropped("otherPrompt");
        if (folded(other.given.message.content) === folded(best.given.message.content))
          return dropped("same");
        return [
          preferencePair(signal, [best, other], repliedTrajectory(best), repliedTrajectory(other), strength),
        ];
      });
  }
  return [ratedReply(signal, first, ratingOf(signal) === true)];
}

/** The single reply that a target refers to; for a session or trajectory, its only reply. */
export async function replyOf(
  target: Target,
  session: ServedSession,
  production: Answers,
): Promise<Reply | undefined> {
  const here = [...session.trajectories.values()].flatMap((responses) => answeredTurns(responses));
  const found = here.filter(
    ({ response }) =>
      (target.session === undefined || target.session === response.session) &&
      (target.trajectory === undefined || target.trajectory === response.trajectory) &&
      (target.turn === undefined || target.turn === response.turn) &&
      (target.response === undefined || target.response === response.id),
  );
  const [one, another] = found;
  if (another) return undefined;
  const response =
    one?.response ?? (target.response ? await production.response(target.response) : undefined);
  const choice = target.choice ?? one?.choice ?? 0;
  const given = response?.choices[choice];
  return response && given ? { response, choice, given } : undefined;
}

/** @param characters the range that the text replaces. Default: the whole reply. */
function corrected(reply: string, text: string, characters: Target["characters"]): string {
  return characters ? reply.slice(0, characters[0]) + text + reply.slice(characters[1]) : text;
}

/** Normalises a text for comparison: blanks, case, and punctuation that is not part of a number. */
export const folded = (text: string): string =>
  text
    .normalize("NFKC")
    .toLowerCase()
    .replaceAll(/(?<!\d)[.,;:!?]|[.,;:!?](?!\d)/g, "")
    .replaceAll(/\s+/g, " ")
    .trim();

/** True: good. False: bad. Undefined: neither. */
function ratingOf({ kind, value, tags }: ReceivedSignal): boolean | undefined {
  const said = kind === "reaction" || (kind === "score" && tags.scale !== undefined);
  return !said || value === undefined || value === 0.5 ? undefined : value > 0.5;
}

/** Verdicts that their giver replaced: only the last one on a reply, by channel and giver, counts. */
function overruledIn(signals: readonly ReceivedSignal[]): ReadonlySet<Id> {
  const last = new Map<string, ReceivedSignal>();
  const overruled = new Set<Id>();
  for (const signal of signals) {
    if (ratingOf(signal) === undefined) continue;
    const key = JSON.stringify([signal.about, signal.channel, signal.source, signal.user ?? null]);
    const before = last.get(key);
    const later = !before || signal.at >= before.at;
    if (before) overruled.add(later ? before.id : signal.id);
    if (later) last.set(key, signal);
  }
  return overruled;
}
