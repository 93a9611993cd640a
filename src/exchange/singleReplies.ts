/** Training examples of single replies, each with its provenance. */
import { createHash } from "node:crypto";
import type { ReceivedSignal, ServedChoice, ServedResponse } from "../core/served.ts";
import type { Provenance, TrainingExample } from "../core/trainingExamples.ts";
import type { Id, Trajectory } from "../core/types.ts";
import { turnOf } from "./logged.ts";
import { taskOfPrompt } from "./task.ts";

/** A reply with the call that it answers. */
export interface Reply {
  readonly response: ServedResponse;
  readonly choice: number;
  readonly given: ServedChoice;
}

/** The reply as it was given, at its position in the conversation. */
export function repliedTrajectory(reply: Reply): Trajectory {
  const { response, given } = reply;
  return single(
    `${response.id}#${reply.choice}`,
    taskOfPrompt(response.prompt).id,
    "logged",
    turnOf({ response, choice: reply.choice, reply: given }),
  );
}

/** A written text in place of the reply. */
export function writtenTrajectory(reply: Reply, text: string): Trajectory {
  const { response } = reply;
  const given: ServedChoice = { message: { role: "assistant", content: text }, stop: "eos" };
  const id = `${response.id}#${hashOf(text)}`;
  const turn = turnOf({ response, choice: 0, reply: given });
  const shown = { ...turn, version: "written", stop: "eos" as const, ms: 0 };
  return single(id, taskOfPrompt(response.prompt).id, "demonstrated", shown);
}

const single = (
  id: Id,
  task: Id,
  origin: Trajectory["origin"],
  turn: Trajectory["turns"][number],
): Trajectory => ({
  id,
  task,
  episode: id,
  role: "agent",
  turns: [turn],
  end: { kind: "done", reason: "logged" },
  origin,
});

/** A preference between two replies to one prompt. @param replies the served ones. */
export function preferencePair(
  signal: ReceivedSignal,
  replies: readonly Reply[],
  chosen: Trajectory,
  rejected: Trajectory,
  strength: number,
): TrainingExample {
  const { channel, source } = signal;
  const task = taskOfPrompt(chosen.turns[0]?.prompt ?? []);
  const id = `pair/${hashOf(task.id, textOf(chosen), textOf(rejected))}`;
  // a trajectory may be in several pairs; in a run each pair needs its own copy
  const own = (t: Trajectory, side: string): Trajectory => ({
    ...t,
    id: `${id}/${side}`,
    episode: `${id}/${side}`,
  });
  return {
    kind: "pair",
    id,
    task,
    channel,
    source,
    chosen: own(chosen, "chosen"),
    rejected: own(rejected, "rejected"),
    strength,
    from: provenance(signal, replies),
  };
}

/** A reply that a user wrote, or marked as the right one. */
export function demonstration(signal: ReceivedSignal, reply: Reply, text: string): TrainingExample {
  // the reply itself was marked as right: keep it with its tool calls
  const itself = reply.given.message.content === text;
  const shown: Trajectory = itself
    ? { ...repliedTrajectory(reply), origin: "demonstrated" }
    : writtenTrajectory(reply, text);
  const task = taskOfPrompt(reply.response.prompt);
  const id = `demonstration/${hashOf(task.id, textOf(shown))}`;
  return {
    kind: "demonstration",
    id,
    task,
    source: signal.source,
    shown: { ...shown, id, episode: id },
    from: provenance(signal, [reply]),
  };
}

/** A reply that a user rated good or bad. */
export function ratedReply(signal: ReceivedSignal, reply: Reply, good: boolean): TrainingExample {
  const task = taskOfPrompt(reply.response.prompt);
  const { channel, source } = signal;
  const own = repliedTrajectory(reply);
  const id = `verdict/${hashOf(own.id, channel, source, signal.user ?? "")}`;
  const from = provenance(signal, [reply]);
  return { kind: "rating", id, task, channel, source, reply: { ...own, id, episode: id }, good, from };
}

const textOf = (t: Trajectory): string =>
  t.turns.map(({ action }) => JSON.stringify([action.content, action.toolCalls ?? []])).join("\n");

const hashOf = (...parts: readonly string[]): string =>
  createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 24);

export function provenance(signal: ReceivedSignal, replies: readonly Reply[]): Provenance {
  const users = [signal.user, ...replies.map(({ response }) => response.user)];
  return {
    sessions: distinct(replies.map(({ response }) => response.session)),
    users: distinct(users.filter((user) => user !== undefined)),
    responses: distinct(replies.map(({ response }) => response.id)),
    signals: [signal.id],
  };
}

const distinct = (ids: readonly Id[]): readonly Id[] => [...new Set(ids)];
