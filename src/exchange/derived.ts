/** Derives training examples from feedback: pairs, demonstrations and ratings, each with its provenance. */

import type { ReceivedSignal, Target } from "../core/served.ts";
import {
  type TrainingExample,
  type TrainingExampleKind,
  trainingExampleKinds,
} from "../core/trainingExamples.ts";
import type { Id } from "../core/types.ts";
import type { ResponseFilter, SessionFilter, TrafficStore } from "../store/trafficStore.ts";
import { answeredTurns, loggedTrajectory } from "./logged.ts";
import { type ServedSession, servedSessions } from "./sessions.ts";
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
  /** Which kinds of examples are derived. Default: all. */
  readonly kinds?: readonly TrainingExampleKind[];
  /** Only feedback on this channel. Default: all channels. */
  readonly channel?: string;
  /** Only feedback that arrived before this time, in milliseconds since 1970. Default: all. */
  readonly receivedUntil?: number;
  /** Whether conversations without feedback are examples, too. Default true. */
  readonly silent?: boolean;
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
export type Answers = Pick<TrafficStore, "response" | "responses" | "completeSessions">;

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
  const used = new Set<Id>();
  const { kinds = trainingExampleKinds, channel } = filter;
  for await (const session of servedSessions(production, sessionsWanted(filter))) {
    if (kinds.includes("conversation")) yield* conversations(session, filter);
    const fresh = session.signals.filter(
      (signal) =>
        !used.has(signal.id) &&
        (channel === undefined || channel === signal.channel) &&
        kinds.some((kind) => givenBy[kind].includes(signal.kind)),
    );
    const overruled = overruledIn(fresh);
    for (const signal of fresh) {
      used.add(signal.id);
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

/** The kinds of signals that an example is derived from; a conversation is one without any. */
const givenBy: Readonly<Record<TrainingExampleKind, readonly ReceivedSignal["kind"][]>> = {
  conversation: [],
  pair: ["correction", "preference"],
  demonstration: ["correction", "demonstration"],
  rating: ["reaction", "score"],
};

/** The sessions that may give the wanted examples. */
function sessionsWanted(filter: ExampleFilter): SessionFilter {
  const { kinds = trainingExampleKinds, channel, silent = true } = filter;
  const talks = kinds.includes("conversation");
  if (talks && silent) return filter;
  const on = channel === undefined ? {} : { channel };
  return {
    ...filter,
    withSignal: talks ? on : { ...on, kinds: [...new Set(kinds.flatMap((kind) => givenBy[kind]))] },
  };
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
    if (!responses.some(({ id }) => session.matching.has(id))) continue;
    const logged = loggedTrajectory(id, session);
    const [first] = logged?.trajectory.turns ?? [];
    if (!logged || !first) continue;
    const signals =
      filter.channel === undefined
        ? logged.signals
        : logged.signals.filter(({ channel }) => channel === filter.channel);
    if (filter.silent === false && signals.length === 0) continue;
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
  const { kinds = trainingExampleKinds } = filter;
  const good = ratingOf(signal);
  const teaches = kind === "correction" || kind === "demonstration" || kind === "preference";
  if (!teaches && good === undefined) return [];
  const replies: Reply[] = [];
  for (const target of signal.about) {
    const reply = await replyOf(target, session, production);
    if (!reply) return dropped("noReply");
    replies.push(reply);
  }
  const [first] = replies;
  if (!first) return dropped("noReply");
  if (!(await anyMatches(replies, session, production, filter))) return [];
  if (kind === "correction" || kind === "demonstration") {
    if (text === undefined) return dropped("noReply");
    const right = corrected(first.given.message.content, text, signal.about[0]?.characters);
    const shown = kinds.includes("demonstration") ? [demonstration(signal, first, right)] : [];
    if (kind === "demonstration") return shown;
    if (folded(right) === folded(first.given.message.content)) return dropped("same");
    if (!kinds.includes("pair")) return shown;
    const written = writtenTrajectory(first, right);
    return [preferencePair(signal, [first], written, repliedTrajectory(first), 1), ...shown];
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
  return [ratedReply(signal, first, good === true)];
}

/** Whether one of the replies matches the filter. A preference may compare with a reply of another session. */
export async function anyMatches(
  replies: readonly Reply[],
  { id, matching }: ServedSession,
  production: Answers,
  filter: ResponseFilter,
): Promise<boolean> {
  if (replies.some(({ response }) => matching.has(response.id))) return true;
  for (const { response } of replies) {
    if (response.session === id) continue;
    for await (const _ of production.responses({ ...filter, id: response.id })) return true;
  }
  return false;
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

/** Ids of ratings that their user replaced: for each reply, channel and user, only the last one counts. */
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
