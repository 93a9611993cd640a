/** The thread of a {@link Reader}. */
import { parentPort, workerData } from "node:worker_threads";
import { isWhetstoneError, messageOf, type WhetstoneError } from "../../core/errors.ts";
import type { Message } from "../../core/types.ts";
import { chatCodec } from "./codec.ts";
import type { TokenizerFiles } from "./tokenizer.ts";

/** A conversation's tokens, or the error. */
export type Read =
  | { readonly tokens: Int32Array }
  | { readonly message: string; readonly ours?: Pick<WhetstoneError, "code" | "parts"> };

const port = parentPort!;
const codec = chatCodec(workerData as TokenizerFiles);

function read(messages: readonly Message[]): Read {
  try {
    return { tokens: codec.open(messages) };
  } catch (e) {
    const message = messageOf(e);
    return isWhetstoneError(e)
      ? { message, ours: { code: e.code, parts: { ...e.parts, cause: undefined } } }
      : { message };
  }
}

port.on("message", (messages: readonly Message[]) => port.postMessage(read(messages)));
port.postMessage("ready");
