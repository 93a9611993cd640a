/**
 * Tokenizes untrusted conversations in a separate thread: a long one takes seconds, and the regular expressions of some
 * tokenizers never finish on some texts.
 */
import { WhetstoneError } from "../../core/errors.ts";
import type { Message } from "../../core/types.ts";
import { oneThread } from "../../sandbox/thread.ts";
import type { Read } from "./readerWorker.ts";
import { type TokenizerFiles, withoutOrigin } from "./tokenizer.ts";

export interface Reader {
  /** The whole prompt, up to where the reply begins. @throws WhetstoneError `template.failed` on a timeout; and the codec's own errors. */
  read(messages: readonly Message[]): Promise<Int32Array>;
  close(): void;
}

/** Seconds for one conversation: one that fills the longest context takes a few. */
const longest = 20;

/** The thread starts with the first conversation, and does not keep the process alive. @param seconds for one conversation. */
export function startReader(files: TokenizerFiles, seconds = longest): Reader {
  const thread = oneThread<readonly Message[], Read>(import.meta.url, "readerWorker", {
    seconds,
    workerData: withoutOrigin(files),
  });
  return {
    async read(messages) {
      const told = await thread.run(messages);
      if ("tokens" in told) return told.tokens;
      if (!("lost" in told))
        throw told.ours ? new WhetstoneError(told.ours.code, told.ours.parts) : new Error(told.message);
      throw new WhetstoneError("template.failed", {
        where: "the conversation",
        got: told.lost === "late" ? `no tokens within ${seconds} s` : told.message,
        expected: "a tokenizer that takes less time",
        fix: "Send shorter messages. Where short ones take as long, the checkpoint's tokenizer.json or chat template is at fault: use another.",
      });
    },
    close: thread.close,
  };
}
