/** Models that train and sample on a server that speaks the Tinker training API. */
import { randomUUID } from "node:crypto";
import { WhetstoneError } from "../../core/errors.ts";
import type { Codec } from "../../core/model.ts";
import type { Engine } from "../engine.ts";
import type { Reduction } from "./datum.ts";
import { readSaved, type TinkerParts, tinkerCan, tinkerModel } from "./model.ts";
import { openSession, type Session } from "./session.ts";
import { type TransportOptions, transport } from "./transport.ts";

/** Settings of {@link tinkerEngine}. */
export interface TinkerOptions extends TransportOptions {
  /** As the server names it. */
  readonly baseModel: string;
  /** The tokenizer and conversation form of the base model. */
  readonly codec: Codec;
  /** Of a fresh adapter; a saved one keeps its own. Its alpha is the server's. Default 16. */
  readonly rank?: number;
  /** What the server makes of the losses of several tokens. Default "sum", as the API says. */
  readonly reduction?: Reduction;
  /** "json" for servers that do not know protobuf. Default "protobuf". */
  readonly encoding?: "json" | "protobuf";
}

/** An engine whose weights are elsewhere. Nothing is asked of the server before the first model. */
export function tinkerEngine(options: TinkerOptions): Engine {
  const { url, baseModel, codec, rank = 16, reduction = "sum", encoding = "protobuf" } = options;
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw new WhetstoneError("option.range", {
      where: "--url",
      got: JSON.stringify(url),
      expected: "the address of a server, with http:// or https://",
      mend: "For example --url http://127.0.0.1:8000.",
    });
  }
  let opened: Promise<Session> | undefined;
  const session = (): Promise<Session> => (opened ??= openSession(transport(options), baseModel));
  const parts: TinkerParts = {
    session,
    url,
    baseModel,
    codec,
    reduction,
    encoding,
    unique: () => randomUUID().replaceAll("-", ""),
  };
  return {
    name: "tinker",
    can: tinkerCan,
    async create({ id, seed, contextTokens }) {
      const most = (await session()).contextOf(baseModel) ?? contextTokens;
      if (contextTokens <= most) {
        return tinkerModel(id, parts, { seed: seed % 2 ** 31, rank, path: null, version: 0, contextTokens });
      }
      throw new WhetstoneError("context.tooLong", {
        where: `${baseModel} at ${url}`,
        got: `a wish for ${contextTokens} tokens`,
        expected: `at most the ${most} that the server allows`,
        mend: "Limit the turns or the tokens of an episode.",
      });
    },
    open: async (id, folder) => tinkerModel(id, parts, await readSaved(folder, parts)),
    async dispose() {
      (await opened?.catch(() => undefined))?.close();
    },
  };
}
