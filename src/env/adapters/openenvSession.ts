/** One WebSocket session of an OpenEnv server: messages carry no ids, so that one is under way at a time. */
import { z } from "zod";
import type { Json } from "../../core/json.ts";

/** What a server answers. A reward may come as a boolean. */
export type Said =
  | {
      readonly kind: "observation";
      readonly observation: Readonly<Record<string, Json>>;
      readonly reward?: number;
      readonly done: boolean;
    }
  | {
      readonly kind: "error";
      readonly code: string;
      readonly message: string;
      /** Sessions that the server has room for, where it is full. */
      readonly room?: number;
    };

export interface Session {
  /** @throws SessionLost where the connection is gone or the answer takes too long. */
  ask(message: { readonly type: "reset" | "step"; readonly data: Json }): Promise<Said>;
  close(): void;
}

/** The connection could not be made, or was lost: what was under way is lost with it. */
export class SessionLost extends Error {}

const answer = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("observation"),
    data: z.object({
      observation: z.record(z.string(), z.json()).default({}),
      reward: z.union([z.number(), z.boolean()]).nullish(),
      done: z.boolean().default(false),
    }),
  }),
  z.object({
    type: z.literal("error"),
    data: z.looseObject({
      message: z.string().default("no message"),
      code: z.string().default("UNKNOWN"),
      max_sessions: z.number().optional(),
      errors: z.unknown().optional(),
    }),
  }),
]);

/** Messages that may wait to be read. A server answers, one for one: who says more than this talks to itself. */
const mostWaiting = 16;

/** @throws SessionLost where nobody answers within 10 s. */
export async function openSession(
  url: string,
  headers: Readonly<Record<string, string>>,
  messageSeconds: number,
): Promise<Session> {
  const at = new URL("ws", url.endsWith("/") ? url : `${url}/`);
  at.protocol = at.protocol === "https:" ? "wss:" : "ws:";
  const socket = new WebSocket(at, { headers: { ...headers } });
  let lost: SessionLost | undefined;
  /** Answers that nobody waits for yet: a full server speaks before it is asked. */
  const waiting: string[] = [];
  let wake: (() => void) | undefined;
  const gone = (why: string) => (): void => {
    lost ??= new SessionLost(why);
    wake?.();
  };
  socket.addEventListener("message", ({ data }) => {
    if (waiting.length < mostWaiting) waiting.push(String(data));
    else {
      gone("the server talks without being asked")();
      socket.close();
    }
    wake?.();
  });
  socket.addEventListener("close", gone("the server closed the connection"));
  socket.addEventListener("error", gone("the connection failed"));

  /** Until something came, or the connection went. */
  async function until(there: () => boolean, seconds: number, what: string): Promise<void> {
    const timer = setTimeout(gone(`${what} took longer than ${seconds} s`), seconds * 1000);
    try {
      while (!there() && !lost) await new Promise<void>((go) => (wake = go));
    } finally {
      clearTimeout(timer);
    }
    if (!there() && lost) throw lost;
  }

  socket.addEventListener("open", () => wake?.());
  try {
    await until(() => socket.readyState === WebSocket.OPEN, 10, "to connect");
  } catch (e) {
    socket.close();
    throw e;
  }
  return {
    async ask(message) {
      if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message));
      await until(() => waiting.length > 0, messageSeconds, "an answer");
      return read(waiting.shift()!);
    },
    close() {
      if (socket.readyState === WebSocket.OPEN) socket.send('{"type":"close"}');
      socket.close();
    },
  };
}

function read(text: string): Said {
  const { type, data } = answer.parse(JSON.parse(text));
  if (type === "error") {
    const detail = data.errors === undefined ? "" : `: ${JSON.stringify(data.errors)}`;
    return {
      kind: "error",
      code: data.code,
      message: `${data.message}${detail}`.slice(0, 500),
      ...(data.max_sessions === undefined ? {} : { room: data.max_sessions }),
    };
  }
  const { observation, reward, done } = data;
  return {
    kind: "observation",
    observation,
    ...(reward === undefined || reward === null ? {} : { reward: Number(reward) }),
    done,
  };
}
