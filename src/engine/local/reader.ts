/**
 * Conversations of strangers as tokens, in a thread of its own: a long one takes seconds, and the expressions of some tokenizers
 * take for ever on some texts.
 */
import { WhetstoneError } from "../../core/errors.ts";
import type { Message } from "../../core/types.ts";
import { oneThread } from "../../sandbox/thread.ts";
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
        expected: "a tokenizer that reads it in less",
        mend: "Send shorter messages. Where short ones take as long, the checkpoint's tokenizer.json or chat template is at fault: use another.",
      });
    },
    close: thread.close,
  };
}
