/** An engine whose models train and sample on a server with the Tinker training API. */
import { randomUUID } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import { WhetstoneError } from "../../core/errors.ts";
import type { Codec } from "../../core/model.ts";
import type { Engine } from "../engine.ts";
import { type Reduction, reductions } from "./datum.ts";
import { emulated, tinkerCan, tinkerModel } from "./model.ts";
import { type Findings, linesOf, probeServer } from "./probe.ts";
import { readSaved, type TinkerParts } from "./savedModel.ts";
import { heldBy, letGo } from "./serverCheckpoints.ts";
import { type Encoding, openSession, type Session } from "./session.ts";
import { type TransportOptions, transport } from "./transport.ts";

/** Settings of {@link tinkerEngine}. */
export interface TinkerOptions extends TransportOptions {
  /** The server's name of the base model. */
  readonly baseModel: string;
  /** The tokenizer and conversation form of the base model. */
  readonly codec: Codec;
  /** Rank of a new adapter; a saved one keeps its own. The server chooses alpha. Default 16. */
  readonly rank?: number;
  /** How the server reduces the losses of several tokens. Default: as {@link probeServer} measures it; without a probe, "sum". */
  readonly reduction?: Reduction;
  /** Whether to probe the server before a model is created. Default true. */
  readonly probe?: boolean;
  /** Sampling sessions that share the requests of each weight version. Default 1, which allows 64 concurrent requests. */
  readonly samplers?: number;
  /** Encoding of passes. Default: protobuf, or JSON if the server does not support it. */
  readonly encoding?: Encoding;
}

/** An engine whose weights lie on a server. The server is not contacted before the first model is created. */
export function tinkerEngine(options: TinkerOptions): Engine {
  const { url, baseModel, codec, rank = 16, samplers = 1, probe = true, say = () => {} } = options;
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw new WhetstoneError("option.range", {
      where: "--url",
      got: JSON.stringify(url),
      expected: "the address of a server, with http:// or https://",
      fix: "For example --url http://127.0.0.1:8000.",
    });
  }
  // otherwise pending calls (such as rollouts of a failed run) would be retried until their patience ends,
  // and keep the process alive for as long
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
    say(`Probing the losses, limits and samples of ${url} …`);
    const found = await probeServer(await session(), { baseModel, rank, seed: 1 }, codec);
    for (const line of linesOf(found, url)) say(line);
    return found;
  }
  return {
    name: "tinker",
    // capabilities that the server turns out to lack are reported by its models
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
        got: `a request for ${contextTokens} tokens`,
        expected: `at most the ${most} that the server allows`,
        fix: "Limit the turns or the tokens of an episode.",
      });
    },
    async open(id, folder) {
      const saved = await readSaved(folder, parts);
      const reduction = options.reduction ?? saved.reduction;
      return tinkerModel(id, parts, { ...saved, reduction });
    },
    remoteState: {
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
 * The stated reduction, or the measured one. If it could not be measured, the stated one is used.
 * @throws WhetstoneError `engine.failed` if the two differ, or neither is known.
 */
function settled(stated: Reduction | undefined, findings: Findings | undefined): Reduction {
  const found = findings?.reduction;
  if (found === undefined || found === stated) return stated ?? "sum";
  if (found === "unclear" && stated !== undefined) return stated;
  if (found !== "unclear" && stated === undefined) return found;
  throw new WhetstoneError("engine.failed", {
    where: "the server's reduction of losses",
    got: found === "unclear" ? "neither a sum nor a mean of sequences" : found,
    expected: stated ?? reductions.join(" or "),
    fix:
      found === "unclear"
        ? "Check whether the server trains at all. If it uses one of these reductions, set it with --reduction."
        : `Leave --reduction out, or set --reduction ${found}.`,
  });
}
