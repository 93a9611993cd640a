/** An agent function as an episode: it runs in the background, each of its calls is an observation, each action an answer. */
import { messageOf, WhetstoneError } from "../../core/errors.ts";
import { type Action, alreadyOver, type Episode, type Step } from "../environment.ts";
import { contained } from "./contained.ts";
import { dialogue } from "./dialogue.ts";
import type { Answer } from "./endpoint.ts";
import { type Completion, replyOf } from "./reply.ts";
import type { ChatCall, Refusal } from "./request.ts";

export interface SessionOptions<Result> {
  /** The agent. What it returns is graded; what it throws ends its episode as failed. */
  run(stop: AbortSignal): Promise<Result>;
  grade(result: Result): Promise<Step>;
  /** Calls that may wait at once; more are refused. */
  readonly waiting: number;
}

export interface Session {
  readonly episode: Episode;
  /** Answers a call once its turn has been played. */
  complete(call: ChatCall, gone: AbortSignal): Promise<Answer>;
}

/** A call that has arrived. */
interface Pending {
  readonly call: ChatCall;
  readonly completions: Completion[];
  answer(answer: Answer): void;
}

type Outcome<Result> =
  | { readonly kind: "returned"; readonly result: Result }
  | { readonly kind: "threw"; readonly message: string };

/**
 * Calls wait in the order in which they arrive, and are played one at a time; `n` replies are `n` turns on one prompt.
 * The agent begins with the first `observe`. `close` stops it: its signal is aborted, and every call, waiting or to come,
 * is refused as over.
 */
export function agentSession<Result>({ run, grade, waiting: most }: SessionOptions<Result>): Session {
  const stop = new AbortController();
  const talk = dialogue();
  const waiting: Pending[] = [];
  let current: Pending | undefined;
  let outcome: Outcome<Result> | undefined;
  let begun = false;
  let closed = false;
  let answers = 0;
  let wake = (): void => {};

  function begin(): void {
    begun = true;
    const end = (how: Outcome<Result>): void => {
      outcome ??= how;
      wake();
    };
    const threw = (e: unknown): void => end({ kind: "threw", message: messageOf(e) });
    // async: what is thrown before the first await is thrown by the agent as well
    contained(async () => run(stop.signal), threw).then((result) => end({ kind: "returned", result }), threw);
  }

  /** Until the agent calls, or is done. */
  async function next(): Promise<void> {
    while (!outcome && waiting.length === 0) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  }

  async function finish(how: Outcome<Result>): Promise<Step> {
    for (const { answer } of waiting.splice(0)) answer(over);
    if (how.kind === "returned") return grade(how.result);
    return {
      end: { kind: "failed", boundary: "environment", message: `the agent threw: ${how.message}` },
    };
  }

  const episode: Episode = {
    async observe() {
      if (!begun) begin();
      if (!current) {
        await next();
        current = waiting.shift();
      }
      if (!current) throw neverCalled(outcome);
      return { role: "agent", observation: talk.hear(current.call) };
    },

    async act(action) {
      if (!current) return alreadyOver;
      const { call, completions, answer } = current;
      const completion = completionOf(action);
      completions.push(completion);
      talk.said(
        completion,
        replyOf(call, completion, (k) => `${k}`),
      );
      if (completions.length < call.n) return {};
      current = undefined;
      answer({ kind: "completed", id: `${answers++}`, completions });
      await next();
      return outcome ? finish(outcome) : {};
    },

    async close() {
      closed = true;
      stop.abort(new Error("the episode is over"));
      for (const { answer } of [...(current ? [current] : []), ...waiting.splice(0)]) answer(over);
      current = undefined;
    },
  };

  return {
    episode,
    complete: (call, gone) =>
      new Promise((resolve) => {
        if (closed || outcome) return resolve(over);
        if (waiting.length >= most) return resolve(tooMany(most));
        const pending: Pending = { call, completions: [], answer: resolve };
        waiting.push(pending);
        gone.addEventListener("abort", () => {
          // a client that has left needs no turn; one whose turn is being played has had it
          const at = waiting.indexOf(pending);
          if (at >= 0) waiting.splice(at, 1);
        });
        wake();
      }),
  };
}

const completionOf = ({ content, stop, toolCalls, sampled }: Action): Completion => ({
  text: content,
  stop,
  ...(toolCalls ? { toolCalls } : {}),
  ...(sampled ? { sampled } : {}),
});

function neverCalled(outcome: Outcome<unknown> | undefined): WhetstoneError {
  const threw = outcome?.kind === "threw";
  return new WhetstoneError("environment.broken", {
    where: "agent",
    got: threw
      ? `an agent that threw before its first call: ${outcome.message}`
      : "an agent that never called the model",
    expected: "at least one chat completion by way of `openai.baseURL`",
    fix: "Hand `openai` to the client that the agent calls its model with.",
  });
}

const refused = (refusal: Refusal): Answer => ({ kind: "refused", ...refusal });
const over: Answer = refused({
  status: 410,
  type: "invalid_request_error",
  code: "session_over",
  message: "The episode is over: it ended, or met one of its limits. Nothing answers any more.",
});
const tooMany = (most: number): Answer =>
  refused({
    status: 429,
    type: "rate_limit_error",
    code: "too_many_calls",
    message: `${most} calls of this agent wait already, as many as its episode may have turns. Wait for their answers.`,
  });
