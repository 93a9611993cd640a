/** Models that train and sample on a server that speaks the Tinker training API. */
import { randomUUID } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import { WhetstoneError } from "../../core/errors.ts";
import type { Codec } from "../../core/model.ts";
import type { Engine } from "../engine.ts";
import { type Reduction, reductions } from "./datum.ts";
import { emulated, readSaved, type TinkerParts, tinkerCan, tinkerModel } from "./model.ts";
import { type Findings, linesOf, probeServer } from "./probe.ts";
import { heldBy, letGo } from "./serverCheckpoints.ts";
import { type Encoding, openSession, type Session } from "./session.ts";
import { type TransportOptions, transport } from "./transport.ts";

/** Settings of {@link tinkerEngine}. */
export interface TinkerOptions extends TransportOptions {
  /** As the server names it. */
  readonly baseModel: string;
  /** The tokenizer and conversation form of the base model. */
  readonly codec: Codec;
  /** Of a fresh adapter; a saved one keeps its own. Its alpha is the server's. Default 16. */
  readonly rank?: number;
  /** What the server makes of the losses of several tokens. Default: as {@link probeServer} finds it; without, "sum". */
  readonly reduction?: Reduction;
  /** Whether the server is tried before a model is made. Default true. */
  readonly probe?: boolean;
  /** Sampling sessions that share the requests of each version of the weights. Default 1: 64 requests at a time. */
  readonly samplers?: number;
  /** How passes are written. Default: protobuf, and JSON where the server does not read that. */
  readonly encoding?: Encoding;
}

/** An engine whose weights are elsewhere. Nothing is asked of the server before the first model. */
export function tinkerEngine(options: TinkerOptions): Engine {
  const { url, baseModel, codec, rank = 16, samplers = 1, probe = true, say = () => {} } = options;
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw new WhetstoneError("option.range", {
      where: "--url",
      got: JSON.stringify(url),
      expected: "the address of a server, with http:// or https://",
      mend: "For example --url http://127.0.0.1:8000.",
    });
  }
  // what is still under way when the engine is let go (rollouts that ran ahead of a run that failed) would be asked
  // for again until patience ends, and keep the process for as long
  const ending = new AbortController();
  const stop = options.stop ? AbortSignal.any([options.stop, ending.signal]) : ending.signal;
  const { wait = (ms) => setTimeout(ms, undefined, { signal: stop }) } = options;
  let opened: Promise<Session> | undefined;
  const session = (): Promise<Session> =>
    (opened ??= openSession(transport({ ...options, stop, wait }), baseModel, options.encoding));
  const parts: TinkerParts = {
    session,
    url,
    baseModel,
    codec,
    samplers,
    unique: () => randomUUID().replaceAll("-", ""),
  };
  let tried: Promise<Findings> | undefined;
  async function tryServer(): Promise<Findings> {
    say(`Trying what ${url} does with losses, limits and samples …`);
    const found = await probeServer(await session(), { baseModel, rank, seed: 1 }, codec);
    for (const line of linesOf(found, url)) say(line);
    return found;
  }
  return {
    name: "tinker",
    // what of the latter the server does not do is told by its models
    can: new Set([...tinkerCan, ...(probe ? emulated(codec.vocabulary) : [])]),
    async create({ id, seed, contextTokens }) {
      const most = (await session()).contextOf(baseModel) ?? contextTokens;
      if (contextTokens <= most) {
        const findings = probe ? await (tried ??= tryServer()) : undefined;
        const reduction = settled(options.reduction, findings);
        const begun = { seed: seed % 2 ** 31, rank, path: null, version: 0, contextTokens };
        return tinkerModel(id, parts, { ...begun, reduction, ...(findings && { findings }) });
      }
      throw new WhetstoneError("context.tooLong", {
        where: `${baseModel} at ${url}`,
        got: `a wish for ${contextTokens} tokens`,
        expected: `at most the ${most} that the server allows`,
        mend: "Limit the turns or the tokens of an episode.",
      });
    },
    async open(id, folder) {
      const saved = await readSaved(folder, parts);
      const reduction = options.reduction ?? saved.reduction;
      return tinkerModel(id, parts, { ...saved, reduction });
    },
    elsewhere: {
      heldBy,
      async letGo(held) {
        const { over } = await session();
        await Promise.all(held.map((path) => letGo(over, path)));
      },
    },
    async dispose() {
      const open = await opened?.catch(() => undefined);
      await open?.close();
      ending.abort(new Error(`the engine of ${url} has been disposed of`));
    },
  };
}

/**
 * What was stated, or was found out. Where nothing could be, what was stated is believed.
 * @throws WhetstoneError `engine.failed` where the two differ, or neither is known.
 */
function settled(stated: Reduction | undefined, findings: Findings | undefined): Reduction {
  const found = findings?.reduction;
  if (found === undefined || found === stated) return stated ?? "sum";
  if (found === "unclear" && stated !== undefined) return stated;
  if (found !== "unclear" && stated === undefined) return found;
  throw new WhetstoneError("engine.failed", {
    where: "what the server makes of losses",
    got: found === "unclear" ? "neither a sum nor a mean of sequences" : found,
    expected: stated ?? reductions.join(" or "),
    mend:
      found === "unclear"
        ? "Look whether it trains at all. If it does one of the two, say so with --reduction."
        : `Leave --reduction out, or say --reduction ${found}.`,
  });
}
