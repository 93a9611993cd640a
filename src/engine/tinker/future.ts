/** Results of long-running calls, polled until they are ready. */
import type { z } from "zod";
import { future, metadataOnly, protobufType, requestFailed, tryAgain } from "./protocol.ts";
import {
  type Answer,
  type Body,
  checked,
  detailOf,
  failed,
  forgotten,
  type Sending,
  type Transport,
} from "./transport.ts";

/** How often a 400 or a 500 counts as a transport error, and a lost result is requested anew. */
const most = { bad: 3, broken: 3, resubmitted: 3 } as const;
/** Minimum milliseconds between two polls, for servers that answer at once. */
const breathMs = 20;

/** The type of a call, which some servers require, and whether its result may be protobuf. */
export interface Kind {
  readonly type: string;
  readonly protobuf?: boolean;
}

type Next =
  | { readonly kind: "done"; readonly answer: Answer }
  /** Poll again: at once, or after milliseconds. `longer`: with exponential backoff. */
  | { readonly kind: "again"; readonly after: number | "longer"; readonly paused?: string }
  /** The payload is large and was not requested. */
  | { readonly kind: "whole" }
  | { readonly kind: "bad" | "gone"; readonly why: string }
  | { readonly kind: "failed" | "unknown"; readonly why: string };

/** What an answer of `retrieve_future` means. Undefined: the connection was lost. */
export function meaningOf(answer: Answer | undefined): Next {
  if (!answer) return { kind: "again", after: "longer" };
  const { status, json, type } = answer;
  if (status === 200) {
    if (type === protobufType) return { kind: "done", answer };
    const queued = tryAgain.safeParse(json);
    if (queued.success) return { kind: "again", after: 0, ...pausedOf(queued.data) };
    if (metadataOnly.safeParse(json).success) return { kind: "whole" };
    const wrong = requestFailed.safeParse(json);
    return wrong.success ? { kind: "failed", why: wrong.data.error } : { kind: "done", answer };
  }
  if (status === 408 || status >= 500) return { kind: "again", after: 0 };
  if (status === 429) return { kind: "again", after: answer.restMs || "longer" };
  if (status === 402) return { kind: "again", after: 5000 };
  if (status === 400) return { kind: "bad", why: detailOf(answer) };
  if (status === 410) return { kind: "gone", why: detailOf(answer) };
  if (status === 404) return { kind: "unknown", why: detailOf(answer) };
  return { kind: "failed", why: detailOf(answer) };
}

function pausedOf({ queue_state, queue_state_reason }: z.output<typeof tryAgain>): {
  readonly paused?: string;
} {
  if (queue_state === "active") return {};
  return { paused: queue_state_reason ?? queue_state.replaceAll("_", " ") };
}

/**
 * Submits a call and waits for its result. If the server lost the result, the same body is submitted again; the server
 * recognises it by its sequence number, so nothing is done twice.
 * @throws WhetstoneError `engine.failed`.
 */
export async function resultOf(over: Transport, path: string, body: Body, kind: Kind): Promise<Answer> {
  const id = await submit(over, path, body);
  return await awaited(over, path, body, kind, id);
}

/** @returns the request id of its result. */
export async function submit(
  over: Transport,
  path: string,
  body: Body,
  headers?: Sending["headers"],
): Promise<string> {
  const answer = await over.send(path, body, headers && { headers });
  return checked(path, () => future.parse(answer.json)).request_id;
}

/**
 * The same for a server that may not support protobuf. @returns undefined if it does not.
 *
 * A 500 counts as no support: SkyRL 0.3.0 fails when it quotes such a body in its own error message.
 */
export async function submitIfRead(over: Transport, path: string, body: Body): Promise<string | undefined> {
  for (let broke = 1, pause = 500; ; broke++, pause *= 2) {
    const answer = await over.send(path, body, { misread: [400, 415, 422, 500] });
    if (answer.status < 300) return checked(path, () => future.parse(answer.json)).request_id;
    // a server in trouble answers this once, one without protobuf every time
    if (answer.status !== 500 || broke === most.broken) return undefined;
    await over.wait(pause);
  }
}

/** The result of a submitted call. */
export async function awaited(
  over: Transport,
  path: string,
  body: Body,
  { type, protobuf = false }: Kind,
  submitted: string,
): Promise<Answer> {
  let id = submitted;
  let told: string | undefined;
  let [bad, resubmitted, waited, pause, round] = [0, 0, 0, 500, 0];
  for (const began = performance.now(); ; ) {
    const asked = performance.now();
    const answer = await over.once(
      "retrieve_future",
      { json: { request_id: id } },
      {
        "X-Tinker-Request-Iteration": String(round++),
        "X-Tinker-Request-Type": type,
        ...(protobuf && { Accept: protobufType }),
      },
    );
    const next = meaningOf(answer);
    if (next.kind === "done") return next.answer;
    const { paused } = next.kind === "again" ? next : {};
    if (paused !== undefined && paused !== told) over.say(`${path} waits: ${paused}`);
    told = paused ?? told;
    if (next.kind === "failed") throw failed(path, next.why, resume);
    if (next.kind === "unknown") throw failed(path, next.why, forgotten);
    if (next.kind === "bad" && ++bad >= most.bad) throw failed(path, next.why, resume);
    if (next.kind === "gone") {
      if (++resubmitted > most.resubmitted) throw failed(path, next.why, resume);
      id = await submit(over, path, body);
    }
    const after = next.kind !== "again" ? 0 : next.after === "longer" ? pause : next.after;
    pause = next.kind === "again" && next.after === "longer" ? Math.min(2 * pause, 30_000) : 500;
    // measured from poll to poll: a long poll that ended without an answer has already waited
    const rest = Math.max(after, breathMs);
    if (performance.now() - asked < rest) {
      await over.wait(rest);
      waited += rest;
    }
    const lasted = Math.max(waited, performance.now() - began);
    if (next.kind === "again" && answer?.status === 200 && paused === undefined)
      sayIfLate(over, path, lasted);
    if (lasted >= over.patienceMs) {
      const questions = `after ${round} polls`;
      if (!answer)
        throw failed(path, `no connection ${questions} for its result (${over.broken()})`, reconnect);
      throw failed(
        path,
        `no result of ${id} ${questions}`,
        `The server keeps it pending. Check the server, then resume the run from its last checkpoint.`,
      );
    }
  }
}

/** Once for the calls that wait beside each other, and then only for those that wait twice as long. */
function sayIfLate(over: Transport, path: string, ms: number): void {
  const limit = over.late.get(path) ?? lateMs;
  if (ms < limit) return;
  over.late.set(path, 2 * limit);
  over.say(
    `${path} has taken ${Math.round(ms / 1000)} seconds and goes on: the server is busy, or compiles a program for a new shape`,
  );
}
const lateMs = 20_000;

const reconnect = "Check that the server answers, then resume the run from its last checkpoint.";
const resume = "Correct what the server reports, then resume the run from its last checkpoint.";
