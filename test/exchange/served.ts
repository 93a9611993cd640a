/** Hand-made served traffic, for the tests of imports and exports. */
import type { ReceivedSignal, ServedResponse } from "../../src/core/served.ts";
import type { Message } from "../../src/core/types.ts";
import type { Answers } from "../../src/exchange/derived.ts";
import { migrated, sqliteDatabase } from "../../src/store/connect.ts";
import { secretOf } from "../../src/store/erased.ts";
import { trafficStoreOn } from "../../src/store/openTrafficStore.ts";
import { openDatabase } from "../../src/store/sqlite.ts";
import type { TrafficStore } from "../../src/store/trafficStore.ts";

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

/** A store in memory that holds these; what came at one time came in the order given. */
export function served(
  responses: readonly ServedResponse[],
  signals: readonly ReceivedSignal[] = [],
): Answers {
  const opened = storeOf(responses, signals);
  return {
    response: async (id) => (await opened).response(id),
    async *responses(filter) {
      yield* (await opened).responses(filter);
    },
    async *completeSessions(filter) {
      yield* (await opened).completeSessions(filter);
    },
  };
}

async function storeOf(
  responses: readonly ServedResponse[],
  signals: readonly ReceivedSignal[],
): Promise<TrafficStore> {
  const database = sqliteDatabase(openDatabase(":memory:"), ":memory:");
  await migrated(database);
  const store = trafficStoreOn(database, await secretOf(database.db));
  await store.write([
    ...responses.map(
      (response, i) => ({ kind: "response", response: { ...response, at: response.at + i / 1000 } }) as const,
    ),
    ...signals.map(
      (signal, i) =>
        ({ kind: "signal", signal: { ...signal, received: signal.received + i / 1000 } }) as const,
    ),
  ]);
  return store;
}
