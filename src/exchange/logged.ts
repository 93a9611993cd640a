/** Converts served traffic into trajectories and signals for training. */

import { keyOf } from "../common/text/toolCalls.ts";
import { tokenTexts } from "../common/tokens/turns.ts";
import type { Codec } from "../core/model.ts";
import type { Logged, ReceivedSignal, ServedChoice, ServedResponse, Target } from "../core/served.ts";
import type { Exposure, Signal } from "../core/signal.ts";
import type { Id, Ref, Span, Turn } from "../core/types.ts";
import type { ResponseFilter } from "../store/trafficStore.ts";
import { type Served, type ServedSession, servedSessions } from "./sessions.ts";
import { taskOfPrompt } from "./task.ts";

/** Settings of {@link logged}. */
export interface LoggedOptions {
  /** Codec of the model that answered: turns feedback on characters into feedback on tokens. Default: feedback on the turn. */
  readonly codec?: Pick<Codec, "decode">;
}

/** An answered turn of a trajectory, with the reply that the conversation continued from. */
export interface AnsweredTurn {
  readonly response: ServedResponse;
  readonly choice: number;
  readonly reply: ServedChoice;
}

/**
 * Every trajectory with a matching response, complete with all its signals, session by session. Each turn's choice is the
 * one that the next prompt continues from, else the first. Failed responses are not turns; a trajectory without any other
 * is left out. Its task is its first prompt. Its signals exclude feedback on another trajectory or on a reply that the
 * conversation did not continue from (a preference counts if all replies that it compares do), reviews of feedback, and
 * signals that reviewers rejected.
 */
export async function* logged(
  production: Served,
  filter: ResponseFilter = {},
  options: LoggedOptions = {},
): AsyncGenerator<Logged> {
  for await (const session of servedSessions(production, filter)) {
    for (const [id, responses] of session.trajectories) {
      if (!responses.some(({ id }) => session.matching.has(id))) continue;
      const one = loggedTrajectory(id, session, options);
      if (one) yield one;
    }
  }
}

/** @returns undefined if no turn was answered. */
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

/** The answered turns, one response each; of several at one position (a retried call), the last. */
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

/** A served reply as a training turn. */
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
 * The position in a trajectory that a target refers to; undefined for another trajectory, or a reply that was not chosen.
 * A turn of a session counts as one of its trajectory if the session has only one.
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

/** The action tokens of a range of characters; undefined if tokens and text do not match. */
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

/** A signal at its position in a trajectory; undefined if it has none, or lacks what its kind requires. */
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
      // compares with a reply elsewhere, so it is not feedback within this trajectory
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
