/** Responses on disk, keyed by request: a repeated request costs nothing and gives the same reply. */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { makeFolder, replaceFile } from "../../common/files/files.ts";
import type { ChatReply } from "../../core/chat.ts";

const message = z.object({
  role: z.enum(["system", "user", "assistant", "tool"]),
  content: z.string(),
  toolCalls: z.array(z.object({ id: z.string(), name: z.string(), arguments: z.string() })).optional(),
});
const stored = z.object({
  message,
  stop: z.enum(["eos", "stop", "length", "cut"]),
  tokens: z.object({ input: z.number(), output: z.number() }),
});

export interface Cache {
  /** The cached reply; undefined if there is none or its file is damaged, in which case the request is sent again. */
  find(key: string): Promise<Omit<ChatReply, "cached"> | undefined>;
  keep(key: string, reply: Omit<ChatReply, "cached">): Promise<void>;
}

/** Digest of a request; the same for equal values in the same order. */
export const keyOf = (request: unknown): string =>
  createHash("sha256").update(JSON.stringify(request)).digest("hex");

/** Each reply is one file, written atomically, so several processes may share the folder. */
export function openCache(folder: string): Cache {
  const place = (key: string): string => join(folder, key.slice(0, 2), `${key}.json`);
  return {
    async find(key) {
      const text = await readFile(place(key), "utf8").catch(() => "");
      try {
        const { message, ...rest } = stored.parse(JSON.parse(text));
        const { toolCalls, ...said } = message;
        return { message: { ...said, ...(toolCalls ? { toolCalls } : {}) }, ...rest };
      } catch {
        return undefined;
      }
    },
    async keep(key, reply) {
      await makeFolder(join(folder, key.slice(0, 2)));
      await replaceFile(place(key), `${JSON.stringify(reply)}\n`, { shared: true });
    },
  };
}
