/** Served traffic in the words that learning uses. */

import { keyOf } from "../common/text/toolCalls.ts";
import { tokenTexts } from "../common/tokens/turns.ts";
import type { Codec } from "../core/model.ts";
import type { Logged, ReceivedSignal, ServedChoice, ServedResponse, Target } from "../core/served.ts";
import type { Exposure, Signal } from "../core/signal.ts";
import type { Id, Ref, Span, Turn } from "../core/types.ts";
import type { ResponseFilter } from "../store/production.ts";
import { fits, type Served, type ServedSession, servedSessions } from "./sessions.ts";
import { taskOfPrompt } from "./task.ts";

/** Settings of {@link logged}. */
export interface LoggedOptions {
  /** Of the model that answered: feedback on characters becomes feedback on tokens. Default: on the turn. */
  readonly codec?: Pick<Codec, "decode">;
}

/** One answered turn of a trajectory, and which of its replies the conversation went on from. */
export interface AnsweredTurn {
  readonly response: ServedResponse;
  readonly choice: number;
  readonly reply: ServedChoice;
}

/**
 * Every trajectory with a response that fits, whole, with all that was said of it, session by session. The choice of a
 * turn is the one that the next prompt goes on from, else the first. Answers that failed are no turns; a trajectory
 * without any other is left out. Its task is its first prompt. Feedback on a reply that the conversation did not go on
 * from, or on another trajectory, is not among its signals; a preference is, when all that it compares is. Nor is what
 * reviewers said of feedback, or what they rejected.
 */
export async function* logged(
  production: Served,
  filter: ResponseFilter = {},
  options: LoggedOptions = {},
): AsyncGenerator<Logged> {
  for await (const session of servedSessions(production, filter)) {
    for (const [id, responses] of session.trajectories) {
      if (!responses.some((response) => fits(response, filter))) continue;
      const one = loggedTrajectory(id, session, options);
      if (one) yield one;
    }
  }
}

/** @returns nothing where no turn was answered. */
export function loggedTrajectory(
  id: Id,
  session: ServedSession,
  options: LoggedOptions = {},
): Logged | undefined {
  const turns = answeredTurns(session.trajectories.get(id) ?? []);
  const first = turns[0];
  if (!first) return undefined;
  const user = turns.findLast(({ response }) => response.user !== undefined)?.response.user;
  const exposures = turns.flatMap(({ response }, turn) => exposuresOf(id, turn, response));
  const only = session.trajectories.size === 1;
  const place = (target: Target): Ref | undefined =>
    refOf(target, { id, session: session.id, only, turns }, options.codec);
  return {
    trajectory: {
      id,
      task: taskOfPrompt(first.response.prompt).id,
      episode: id,
      role: "agent",
      turns: turns.map(turnOf),
      end: { kind: "done", reason: "logged" },
      origin: "logged",
    },
    session: session.id,
    ...(user === undefined ? {} : { user }),
    responses: turns.map(({ response }) => response.id),
    propensities: turns.map(({ response }) => response.propensity),
    signals: session.signals.flatMap((received) => {
      const rejected = session.rejected.has(received.id);
      const signal = rejected ? undefined : signalOf(received, place, exposures);
      return signal ? [signal] : [];
    }),
    exposures,
  };
}

/** The turns that were answered, one response each: of several with one place (a call that was sent again), the last. */
export function answeredTurns(responses: readonly ServedResponse[]): AnsweredTurn[] {
  const answered = responses.filter(
    (response) => response.status !== "failed" && response.choices.length > 0,
  );
  const byPlace = [...new Map(answered.map((response) => [response.turn, response])).values()];
  return byPlace.flatMap((response, i) => {
    const said = byPlace[i + 1]?.prompt[response.prompt.length];
    const found = said ? response.choices.findIndex(({ message }) => keyOf(message) === keyOf(said)) : 0;
    const choice = Math.max(0, found);
    const reply = response.choices[choice];
    return reply ? [{ response, choice, reply }] : [];
  });
}

/** A served reply as a turn of learning. */
export function turnOf({ response, reply }: AnsweredTurn): Turn {
  return {
    role: "agent",
    model: "policy",
    version: response.version,
    prompt: response.prompt,
    action: reply.message,
    ...(reply.tokens ? { tokens: reply.tokens } : {}),
    spans: {},
    stop: response.status === "cut" ? "cut" : reply.stop,
    rewards: {},
    ms: response.ms,
  };
}

function exposuresOf(trajectory: Id, turn: number, { channels, at, propensity }: ServedResponse): Exposure[] {
  return channels.map((channel) => ({
    id: `${trajectory}/${turn}/${channel}`,
    about: { trajectory, turn },
    channel,
    at,
    propensity,
  }));
}

/**
 * The place in a trajectory that a target means; undefined where it means another trajectory, or a reply not taken. A
 * turn of a session is one of its trajectory, where it has only one.
 */
function refOf(
  target: Target,
  at: {
    readonly id: Id;
    readonly session: Id;
    readonly only: boolean;
    readonly turns: readonly AnsweredTurn[];
  },
  codec: LoggedOptions["codec"],
): Ref | undefined {
  if (target.session !== undefined && target.session !== at.session) return undefined;
  if (target.trajectory !== undefined && target.trajectory !== at.id) return undefined;
  if (target.response === undefined && target.turn === undefined) return { trajectory: at.id };
  if (target.response === undefined && target.trajectory === undefined && !at.only) return undefined;
  const turn = at.turns.findIndex(
    ({ response }) =>
      (target.response === undefined || target.response === response.id) &&
      (target.turn === undefined || target.turn === response.turn),
  );
  const answered = at.turns[turn];
  if (!answered || (target.choice !== undefined && target.choice !== answered.choice)) return undefined;
  const span = target.characters && codec && spanOf(target.characters, answered.reply, codec);
  return { trajectory: at.id, turn, ...(span ? { span } : {}) };
}

/** The action tokens that write a range of characters; nothing where tokens and text do not agree. */
export function spanOf(
  [from, to]: readonly [number, number],
  { message, tokens }: ServedChoice,
  codec: Pick<Codec, "decode">,
): Span | undefined {
  if (!tokens || from >= to) return undefined;
  const texts = tokenTexts(codec, tokens.action);
  if (texts.join("") !== message.content) return undefined;
  let end = 0;
  const ends = texts.map((text) => {
    end += text.length;
    return end;
  });
  const first = ends.findIndex((e) => e > from);
  const last = ends.findIndex((e) => e >= to);
  return first < 0 ? undefined : [first, (last < 0 ? texts.length - 1 : last) + 1];
}

/** Feedback at its places in one trajectory; nothing where it is about none, or lacks what its kind needs. */
function signalOf(
  received: ReceivedSignal,
  place: (target: Target) => Ref | undefined,
  exposures: readonly Exposure[],
): Signal | undefined {
  const { kind, channel, source, value, text, best } = received;
  const about = received.about.map(place).filter((ref) => ref !== undefined);
  if (about.length === 0) return undefined;
  const exposure = exposures.find(
    (e) => e.channel === channel && about.some((ref) => ref.turn === e.about.turn),
  );
  const base = { channel, source, about, ...(exposure ? { exposure: exposure.id } : {}) };
  const valued = value === undefined ? {} : { value };
  switch (kind) {
    case "reward":
      return value === undefined ? undefined : { ...base, kind, value };
    case "score":
      return value === undefined
        ? undefined
        : { ...base, kind, value, ...(text === undefined ? {} : { text }) };
    case "preference":
      // compared with something elsewhere, it says nothing within this trajectory
      return best === undefined || about.length !== received.about.length
        ? undefined
        : { ...base, kind, best, ...valued };
    case "critique":
    case "reaction":
      return text === undefined ? undefined : { ...base, kind, text, ...valued };
    case "correction":
    case "demonstration":
      return text === undefined ? undefined : { ...base, kind, text };
  }
}
