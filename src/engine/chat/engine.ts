/** A hosted chat model as the policy of a run: it is prompted, but never trained. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Chat } from "../../core/chat.ts";
import { WhetstoneError } from "../../core/errors.ts";
import type { Codec, Model } from "../../core/model.ts";
import type { Engine } from "../engine.ts";

/** All its models share one chat; see `Model.chat`. Enough for learners without weights. */
export const chatEngine = (chat: Chat): Engine => ({
  name: "chat",
  can: new Set(),
  create: async ({ id, contextTokens }) => talking(id, chat, contextTokens),
  open: async (id) => talking(id, chat, Number.MAX_SAFE_INTEGER),
  spent: () => chat.spent(),
  dispose: async () => {},
});

function talking(id: string, chat: Chat, contextTokens: number): Model {
  const refused = async (): Promise<never> => {
    throw lacking(chat.id);
  };
  return {
    id,
    chat,
    version: chat.id,
    can: new Set(),
    codec: wordless(chat.id),
    contextTokens,
    parameters: 0,
    sample: refused,
    score: refused,
    accumulate: refused,
    step: refused,
    freeze: refused,
    fork: refused,
    save: (folder) => writeFile(join(folder, "chat.json"), `${JSON.stringify({ model: chat.id })}\n`),
    load: async () => {},
    dispose: async () => {},
  };
}

/** A codec that always throws, since a provider's tokens are not available. */
function wordless(name: string): Codec {
  const refused = (): never => {
    throw lacking(name);
  };
  return {
    vocabulary: 0,
    padId: 0,
    endId: 0,
    encode: refused,
    decode: refused,
    open: refused,
    extend: refused,
  };
}

const lacking = (name: string): WhetstoneError =>
  new WhetstoneError("capability.missing", {
    where: name,
    got: "a request for tokens or trainable weights",
    expected: "requests for replies, since the model is behind a provider's API",
    fix: "Choose a method without weights, such as gepa, or an engine that trains.",
  });
