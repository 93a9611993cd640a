/**
 * Conversations of strangers as tokens, in a thread of its own: a long one takes seconds, and the expressions of some tokenizers
 * take for ever on some texts.
 */
import { Worker } from "node:worker_threads";
import { messageOf, WhetstoneError } from "../../core/errors.ts";
import type { Message } from "../../core/words.ts";
import { pool } from "../../sandbox/pool.ts";
import type { Read } from "./readerWorker.ts";
import { type TokenizerFiles, withoutOrigin } from "./tokenizer.ts";

export interface Reader {
  /** The whole prompt, up to where the reply begins. @throws WhetstoneError `template.failed` where it takes too long; and those of the codec. */
  read(messages: readonly Message[]): Promise<Int32Array>;
  close(): void;
}

/** For one conversation: as much as fits the longest context takes a few. */
const longest = 20;

/** Its thread is started by the first conversation, and keeps no process alive. @param seconds for one conversation. */
export function startReader(files: TokenizerFiles, seconds = longest): Reader {
  // run from source the worker is TypeScript too; in the published package both are JavaScript
  const file = import.meta.url.endsWith(".ts") ? "./readerWorker.ts" : "./readerWorker.js";
  const threads = pool<readonly Message[], Read>({
    size: 1,
    seconds,
    open: ({ ready, reply, died }) => {
      const worker = new Worker(new URL(file, import.meta.url), {
        workerData: withoutOrigin(files),
        execArgv: [],
      });
      worker.on("message", (told: Read | "ready") => (told === "ready" ? ready() : reply(told, false)));
      worker.on("error", (e) => died(messageOf(e)));
      worker.on("exit", (code) => died(`the thread ended with ${code}`));
      return {
        send: (messages) => worker.postMessage(messages),
        kill: () => void worker.terminate(),
        hold: (busy) => (busy ? worker.ref() : worker.unref()),
      };
    },
  });
  return {
    async read(messages) {
      const told = await threads.run(messages);
      if ("tokens" in told) return told.tokens;
      if (!("lost" in told))
        throw told.ours ? new WhetstoneError(told.ours.code, told.ours.parts) : new Error(told.message);
      throw new WhetstoneError("template.failed", {
        where: "the conversation",
        got: told.lost === "late" ? `no tokens within ${seconds} s` : told.message,
        expected: "a tokenizer that reads it in less",
        mend: "Send shorter messages. Where short ones take as long, the checkpoint's tokenizer.json or chat template is at fault: use another.",
      });
    },
    close: threads.close,
  };
}
