/** The caller's side of the engine's calls, whatever carries them: a thread's messages, or a page's own. */
import { type ErrorCode, type ErrorParts, errorCodes, WhetstoneError } from "../../core/errors.ts";
import type { CallName, Calls, Reply, Request } from "./protocol.ts";

/** The engine thread, as models call it. */
export interface Host {
  call<K extends CallName>(name: K, ...args: Parameters<Calls[K]>): Promise<ReturnType<Calls[K]>>;
  /** A number to watch a call under, until `unwatch`. @param onToken called with each of its tokens. */
  watch(onToken: (request: number, token: number) => void): number;
  unwatch(watch: number): void;
  /** Whether the thread has ended: closed or failed. */
  readonly ended: boolean;
  /** Ends the thread after the native call in progress, if any; pending calls are rejected. */
  close(): Promise<void>;
}

export function errorFrom({
  code,
  parts,
  message,
  stack,
}: Extract<Reply, { error: unknown }>["error"]): Error {
  const known = code !== undefined && code in errorCodes && parts;
  const e = known
    ? new WhetstoneError(code as ErrorCode, parts as ErrorParts)
    : new WhetstoneError("engine.failed", {
        where: "local engine",
        got: message,
        expected: "the computation to run",
        fix: "Run again with --debug to see where it happened; if memory is short, use a smaller model or batch.",
      });
  if (stack) e.stack = stack;
  return e;
}

export interface Caller extends Pick<Host, "call" | "watch" | "unwatch"> {
  receive(reply: Reply): void;
  /** Rejects the calls that wait, and all later ones. */
  fail(e: Error): void;
  ended(): boolean;
  /** Whether a call waits for its answer. */
  waits(): boolean;
}

/** @param send carries a call to where it is answered. */
export function callerOver(send: (request: Request) => void): Caller {
  const open = new Map<number, { resolve: (value: never) => void; reject: (e: Error) => void }>();
  const watching = new Map<number, (request: number, token: number) => void>();
  let next = 1;
  let closed: Error | undefined;
  return {
    call(name, ...args) {
      if (closed) return Promise.reject(closed);
      const id = next++;
      return new Promise((resolve, reject) => {
        open.set(id, { resolve, reject });
        send({ id, call: name, args });
      });
    },
    watch(onToken) {
      const watch = next++;
      watching.set(watch, onToken);
      return watch;
    },
    unwatch(watch) {
      watching.delete(watch);
    },
    receive(reply) {
      if ("watch" in reply) return watching.get(reply.watch)?.(reply.request, reply.token);
      const waiting = open.get(reply.id);
      open.delete(reply.id);
      if (!waiting) return;
      if ("error" in reply) waiting.reject(errorFrom(reply.error));
      else waiting.resolve(reply.value as never);
    },
    fail(e) {
      closed ??= e;
      for (const { reject } of open.values()) reject(e);
      open.clear();
    },
    ended: () => closed !== undefined,
    waits: () => open.size > 0,
  };
}
