/** Hand-made served traffic, for the tests of imports and exports. */
import type { ReceivedSignal, ServedResponse } from "../../src/core/served.ts";
import type { Message } from "../../src/core/types.ts";
import type { Answers } from "../../src/exchange/derived.ts";
import { matchesFilter } from "../../src/exchange/sessions.ts";

export const user = (content: string): Message => ({ role: "user", content });
export const assistant = (content: string): Message => ({ role: "assistant", content });

/** The response to one call; by default at 1000 ms times its turn, in session "s" of user "u". */
export function response(made: Partial<ServedResponse> & Pick<ServedResponse, "id">): ServedResponse {
  const session = made.session ?? "s";
  const turn = made.turn ?? 0;
  return {
    session,
    user: "u",
    trajectory: `${session}/0`,
    turn,
    origin: "gateway",
    at: 1000 * turn,
    ms: 5,
    version: "v1",
    propensity: 1,
    model: "m",
    settings: {},
    prompt: [user("hello")],
    choices: [{ message: assistant("good day"), stop: "eos" }],
    status: "complete",
    channels: ["thumb"],
    tags: {},
    ...made,
  };
}

/** Feedback on response "r", by default at 9000 ms. */
export function signal(made: Partial<ReceivedSignal> & Pick<ReceivedSignal, "id" | "kind">): ReceivedSignal {
  return {
    channel: "thumb",
    about: [{ response: "r" }],
    source: "user",
    at: 9000,
    received: 9000,
    tags: {},
    ...made,
  };
}

/** A read-only store in memory. Signals belong to the session of their target. */
export function served(
  responses: readonly ServedResponse[],
  signals: readonly ReceivedSignal[] = [],
): Answers {
  const sessionsOf = (s: ReceivedSignal): readonly (string | undefined)[] =>
    s.about.map(
      (target) =>
        target.session ??
        responses.find((r) => r.id === target.response || r.trajectory === target.trajectory)?.session,
    );
  return {
    response: async (id) => responses.find((r) => r.id === id),
    async *responses(filter = {}) {
      yield* responses.filter((r) => matchesFilter(r, filter)).sort((a, b) => a.at - b.at);
    },
    async *signals({ session } = {}) {
      yield* signals.filter((s) => session === undefined || sessionsOf(s).includes(session));
    },
  };
}
